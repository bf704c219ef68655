"""Batch scripts of Slurm, {"kind": "batch", "argv": [...], "tasks": n, "job": "x"}: a shell runs the script on the first node,
with srun and scontrol on its PATH. A part of one text that begins with gang.py."""
def slurm_variables(node, nodes, local, counts):
    """What srun gives each task; counts are the tasks of each node of the step, in order."""
    order = sorted(counts)
    before = sum(counts[other] for other in order if other < node)
    total = sum(counts.values())
    return {"SLURM_NODEID": str(order.index(node)), "SLURM_PROCID": str(before + local), "SLURM_LOCALID": str(local),
            "SLURM_NTASKS": str(total), "SLURM_NPROCS": str(total), "SLURM_STEP_NUM_TASKS": str(total),
            "SLURM_STEP_NUM_NODES": str(len(order)), "SLURM_TASKS_PER_NODE": ",".join(str(counts[at]) for at in order),
            "SLURMD_NODENAME": nodes[node], "RANK": str(before + local), "LOCAL_RANK": str(local),
            "WORLD_SIZE": str(total), "LOCAL_WORLD_SIZE": str(counts[node])}


def batch(leader):
    names, spec = node_names(), leader.spec
    count, tasks = str(len(names)), str(spec["tasks"])
    job = {
        "SLURM_JOB_ID": os.environ["GPUSH_RUN"], "SLURM_JOBID": os.environ["GPUSH_RUN"], "SLURM_JOB_NAME": spec.get("job", ""),
        "SLURM_JOB_NODELIST": ",".join(names), "SLURM_NODELIST": ",".join(names), "SLURM_JOB_NUM_NODES": count,
        "SLURM_NNODES": count, "SLURM_NTASKS_PER_NODE": tasks, "SLURM_NTASKS": str(len(names) * spec["tasks"]),
        "SLURM_SUBMIT_DIR": os.getcwd(), "SLURM_NODEID": "0", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
    gpus = visible_gpus()
    if gpus:
        job.update(SLURM_GPUS_ON_NODE=str(gpus), SLURM_GPUS_PER_NODE=str(gpus))
    leader.prepare(("srun", "scontrol"), **job)
    return leader.program(interpreter(spec["argv"][0]) + spec["argv"])


def visible_gpus():
    return len([gpu for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu])


def interpreter(script):
    """As sbatch takes it: the script need not be executable."""
    with open(script, "rb") as file:
        first = file.readline(1000).decode("utf-8", "replace")
    return shlex.split(first[2:]) if first.startswith("#!") else ["/bin/sh"]


VALUES = {"N": "nodes", "n": "ntasks", "w": "nodelist", "x": "exclude", "c": "cpus-per-task", "G": "gpus", "m": "distribution",
          "J": "job-name", "t": "time", "p": "partition", "A": "account", "o": "output", "e": "error", "i": "input",
          "D": "chdir", "W": "wait", "q": "qos", "C": "constraint", "d": "dependency", "r": "relative"}
FLAGS = {"l", "label", "u", "unbuffered", "K", "kill-on-bad-exit", "exclusive", "exact", "overlap", "O", "overcommit", "s",
         "oversubscribe", "Q", "quiet", "v", "verbose", "k", "no-kill", "E", "preserve-env", "propagate"}


def srun(words, gang):
    names, options, at = gang["names"], {}, 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        word = words[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
        else:
            name, value, equals = word[1], word[2:].lstrip("="), len(word) > 2
            if name in FLAGS:
                continue
            if name not in VALUES:
                return refuse(word)
            name = VALUES[name]
        if name in ("pty", "multi-prog", "het-group", "jobid", "bcast", "relative") or name.startswith("container-"):
            return refuse(word)
        if not equals and name not in FLAGS:
            if at == len(words):
                return refuse(word)
            value = words[at]
            at += 1
        options[name] = value
    if at == len(words):
        return refuse("a line without a program")
    chosen = list(range(len(names)))
    if options.get("nodelist"):
        wanted = options["nodelist"].split(",")
        if set(wanted) - set(names):
            return refuse("--nodelist=" + options["nodelist"] + "; the nodes are " + ",".join(names))
        chosen = [names.index(name) for name in wanted]
    excluded = (options.get("exclude") or "").split(",")
    chosen = [node for node in sorted(chosen) if names[node] not in excluded]
    try:
        most = int((options.get("nodes") or str(len(chosen))).split("-")[-1])
        each = int(options.get("ntasks-per-node") or (gang["tasks"] if "ntasks" not in options else 0))
        total = int(options.get("ntasks") or 0)
    except ValueError:
        return refuse("a number of nodes or tasks that is none")
    if most > len(chosen):
        return refuse("--nodes=%d; there are %d" % (most, len(chosen)))
    chosen = chosen[:most]
    if total and not each:
        chosen = chosen[:total]
        counts = {node: total // len(chosen) + (1 if at_ < total % len(chosen) else 0) for at_, node in enumerate(chosen)}
    else:
        counts = {node: max(1, each) for node in chosen}
    env = dict(os.environ)
    for part in (options.get("export") or "").split(","):
        name, equals, value = part.partition("=")
        if equals:
            env[name] = value
    out = os.fstat(1)
    back = [out.st_dev, out.st_ino] != gang["out"]
    return ask(counts, words[at:], env, options.get("chdir") or os.getcwd(), gang, back)


def refuse(what):
    sys.stderr.write("srun: %s is not possible here\n" % what)
    return 1


def scontrol(words, gang):
    if words[:2] in (["show", "hostnames"], ["show", "hostname"]):
        names = words[2].split(",") if len(words) > 2 else gang["names"]
        print("\n".join(names))
        sys.stdout.flush()
        return 0
    sys.stderr.write("scontrol: only 'scontrol show hostnames' is possible here\n")
    return 1
