# Measures all_reduce over all nodes, then between pairs of nodes, with the torch of this Python. One process per node gets its
# part as JSON and starts a process of the same program for each rank. One line of JSON after a mark.
import json, os, select, signal, subprocess, sys, time

part = json.loads(sys.argv[1])
LEAST_TRIES, MOST_TRIES = 3, 20
SECONDS = 1.0               # of tries of one size; a size that takes longer at once is the last
FLOATS = 4
SLOW = 0.5                  # of the median's rate
MOST_LOOKS = 3              # at pairs: a node that other work slows for a while is not a slow node


def rank():
    import datetime
    import torch
    import torch.distributed as dist
    procs, node, local = part["procs"], part["node"], part["local"]
    firsts = [sum(procs[:at]) for at in range(len(procs))]
    device = torch.device("cuda", local) if part["backend"] == "nccl" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    dist.init_process_group(part["backend"], init_method="env://", rank=firsts[node] + local, world_size=sum(procs),
                            timeout=datetime.timedelta(seconds=part["seconds"]))

    def done():
        if device.type == "cuda":
            torch.cuda.synchronize()

    def once(tensor, group):
        done()
        begun = time.perf_counter()
        dist.all_reduce(tensor, group=group)
        done()
        return time.perf_counter() - begun

    def together(value, group):
        """The largest of all ranks: they take the same decisions, and begin each measurement together."""
        tensor = torch.tensor([value], dtype=torch.float64, device=device)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX, group=group)
        return tensor.item()

    def best(size, group):
        """The best of several tries: what else runs on the nodes makes single ones slow."""
        tensor = torch.zeros(size // FLOATS, device=device)
        once(tensor, group)                             # connections and memory are made
        first = together(once(tensor, group), group)
        tries = int(max(LEAST_TRIES, min(MOST_TRIES, SECONDS / max(first, 1e-6))))
        times = [first]
        for _ in range(tries if first < SECONDS else 1):
            together(0.0, group)
            times.append(once(tensor, group))
        return together(min(times), group)

    def alone():
        tensor = torch.zeros(part["pair_bytes"] // FLOATS, device=device)
        times = []
        for _ in range(MOST_TRIES):
            done()
            begun = time.perf_counter()
            tensor.add_(1.0)
            done()
            times.append(time.perf_counter() - begun)
        return min(times)

    sizes = []
    for size in part["sizes"]:
        seconds = best(size, None)
        sizes.append({"bytes": size, "seconds": seconds})
        if seconds > SECONDS:
            break
    groups = []
    for members in part["rounds"]:                      # every rank makes every group, in the same order
        groups.append([(pair, dist.new_group([firsts[at] + number for at in pair for number in range(procs[at])])) for pair in members])
    fastest = {}

    def look():
        for each in groups:
            together(0.0, None)
            for pair, group in each:
                if node in pair:
                    other = pair[0] if pair[1] == node else pair[1]
                    seconds = best(part["pair_bytes"], group)
                    fastest[other] = min(seconds, fastest.get(other, seconds))
        together(0.0, None)

    def suspects():
        """Whether a node seems slow: all ranks see the same times."""
        mine = torch.zeros(len(procs), dtype=torch.float64, device=device)
        mine[node] = min(fastest.values(), default=0.0)
        dist.all_reduce(mine, op=dist.ReduceOp.MAX)
        times = sorted(mine.tolist())
        return times[-1] * SLOW > times[len(times) // 2]

    looks = 0
    while looks == 0 or looks < MOST_LOOKS and suspects():
        look()
        looks += 1
    pairs = [{"with": other, "bytes": part["pair_bytes"], "seconds": seconds} for other, seconds in sorted(fastest.items())]
    result = {"sizes": sizes, "pairs": pairs, "alone": alone()}
    together(0.0, None)
    if local == 0:
        sys.stdout.write("\ngpush-rank " + json.dumps(result) + "\n")
        sys.stdout.flush()
    dist.destroy_process_group()


def node():
    # Under -c only the kernel still knows the program.
    with open("/proc/self/cmdline", "rb") as file:
        words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    ranks = [subprocess.Popen(words[:-1] + [json.dumps(dict(part, local=local))], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) for local in range(part["procs"][part["node"]])]
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    try:
        return watched(ranks)
    finally:
        for each in ranks:
            each.kill()


def watched(ranks):
    """The answer of the first rank, or the end of what the first that failed wrote."""
    pipes = {each.stdout.fileno(): (each, "out") for each in ranks}
    pipes.update({each.stderr.fileno(): (each, "err") for each in ranks})
    text = {fd: b"" for fd in pipes}
    until, left = time.time() + part["seconds"], set(pipes)
    while left:
        ready = select.select(list(left), [], [], max(0.0, until - time.time()))[0]
        if not ready:
            return {"error": "not done after %d s" % part["seconds"]}
        for fd in ready:
            data = os.read(fd, 65536)
            text[fd] = (text[fd] + data)[-65536:]
            if not data:
                left.discard(fd)
                each, kind = pipes[fd]
                if kind == "err" and each.wait() != 0:
                    lines = [line for line in text[fd].decode("utf-8", "replace").splitlines() if line.strip()]
                    why = lines[-1].strip() if lines else "exit status %d" % each.returncode
                    return {"error": why[:300]}
    said = text[ranks[0].stdout.fileno()].decode("utf-8", "replace").rpartition("\ngpush-rank ")[2]
    return json.loads(said)


if "local" in part:
    rank()
else:
    try:
        answer = node()
    except (OSError, ValueError) as error:
        answer = {"error": str(error)[:300]}
    sys.stdout.write("\ngpush-collective " + json.dumps(answer) + "\n")
    sys.stdout.flush()
