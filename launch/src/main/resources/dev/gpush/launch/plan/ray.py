"""A program of Ray, {"kind": "ray", "argv": [script and arguments], "cpus": [of each node], "gpus": [of each node]}: Ray's head on
the first node, its workers on the others, then the script on the first node. A part of one text that begins with gang.py.

"ray start" leaves processes behind. They are this run's, so its supervisor ends them whatever happens here; "ray stop" would
end those of all runs. Ray's folder has one path on all nodes, and a short one, because of the sockets in it."""
RAY_FOLDER = "/tmp/gpush-ray-%d-" % os.getuid()


def ray_env(key):
    """Of all processes of Ray and of the script. Who reaches its ports can start processes in a Ray that does not ask for a
    token; an older one does not know these names."""
    own = {"RAY_USAGE_STATS_ENABLED": "0"}
    if "RAY_AUTH_MODE" not in os.environ:
        own.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=proof(key, "ray"))
    return own


class RayNode:
    """The processes of Ray on this node."""

    def __init__(self, folder, key):
        self.folder, self.key, self.group = folder, key, None
        remove_left_behind()
        os.makedirs(folder, 0o700, exist_ok=True)
        # Held as long as a node of the run is here; two nodes may be one machine.
        self.lock = open(folder + ".lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_SH)

    def start(self, options):
        """What "ray start" says is of interest only when it fails. Ray itself waits half a minute for its own processes, which
        is too short on a node that is busy: it gets further tries."""
        for tries_left in reversed(range(TRIES)):
            status, said = self.start_once(options)
            if not status or TOLD.is_set():
                return status
            if not tries_left or b"timed out" not in said:
                break
            say("Ray took too long to start on node %s; trying again" % os.environ["GPUSH_NODE"])
            self.end_processes(0)
        sys.stderr.buffer.write(said[-LAST:])
        say("Ray did not start on node %s" % os.environ["GPUSH_NODE"])
        return status

    def start_once(self, options):
        argv = [sys.executable, "-m", "ray.scripts.scripts", "start", "--disable-usage-stats", "--min-worker-port=0",
                "--max-worker-port=0", "--dashboard-agent-listen-port=" + free_port()] + options
        # A worker finds the modules that the script finds beside itself.
        found = os.environ.get("PYTHONPATH")
        env = dict(os.environ, PYTHONPATH=os.getcwd() + (":" + found if found else ""), **ray_env(self.key))
        with tempfile.TemporaryFile() as said:
            child = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said, preexec_fn=os.setpgrp)
            self.group = child.pid
            status = status_of(child.wait())
            said.seek(0)
            return status, said.read()

    def end(self):
        """What it wrote is removed too. The time to end is over when the run itself was told to end."""
        self.end_processes(0 if TOLD.is_set() else END)
        self.lock.close()
        remove_left_behind()

    def end_processes(self, seconds):
        """TERM, and KILL after the seconds."""
        end = time.monotonic() + seconds
        number = signal.SIGTERM
        while self.group and alive(self.group):
            try:
                os.killpg(self.group, number)
            except OSError:
                break
            number = signal.SIGKILL if time.monotonic() > end else 0
            time.sleep(0.05)


TRIES = 3           # of "ray start", if it took too long
LAST = 4000         # bytes of what "ray start" said


def alive(group):
    """Whether a process of the group lives; one that has ended and was not waited for does not."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, "rb") as file:         # a name need not be UTF-8
                fields = file.read().rpartition(b")")[2].split()
            if int(fields[2]) == group and fields[0] not in b"ZX":
                return True
        except OSError:
            pass
    return False


def remove_left_behind():
    """Folders of runs that have ended, also of those that were killed."""
    for path in glob.glob(RAY_FOLDER + "*.lock"):
        try:
            with open(path, "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path[:-len(".lock")], ignore_errors=True)
                os.unlink(path)
        except OSError:
            pass


def ray(leader):
    spec, addresses = leader.spec, os.environ["GPUSH_NODE_ADDRS"].split(",")
    leader.start = dict(os.environ, MASTER_PORT=free_port(), **ray_env(leader.key))
    folder = RAY_FOLDER + "%s-%s" % (os.environ["GPUSH_RUN"], os.urandom(4).hex())
    address = os.environ["MASTER_ADDR"] + ":" + free_port()

    def resources(node):
        own = os.environ["MASTER_ADDR"] if node == 0 else addresses[node]
        return ["--node-ip-address=" + own, "--num-cpus=%d" % spec["cpus"][node], "--num-gpus=%d" % spec["gpus"][node]]

    here = RayNode(folder, leader.key)
    try:
        status = here.start(["--head", "--port=" + address.rpartition(":")[2], "--temp-dir=" + folder, "--include-dashboard=false"]
                            + client_port() + resources(0))
        status = status or join(leader, lambda node: ["--address=" + address] + resources(node), folder)
        if status or TOLD.is_set():
            return status or 143
        leader.start["RAY_ADDRESS"] = address
        return leader.program([sys.executable, "-u"] + spec["argv"])
    finally:
        here.end()


def client_port():
    """Ray's client server starts by itself where its parts are installed, at one port for all; without them it has no option."""
    return ["--ray-client-server-port=" + free_port()] if importlib.util.find_spec("grpc") else []


def join(leader, options, folder):
    """The workers of all other nodes start at once; the first status that is not 0."""
    ended, statuses = threading.Condition(), {}

    def take(node, message):
        with ended:
            statuses[node] = message["status"]
            ended.notify_all()

    others = range(1, leader.nodes)
    for node in others:
        leader.steps[(node, 0)] = lambda message, node=node: take(node, message)
        lines = leader.followers.get(node)
        if lines is None:
            return 1
        lines.send(op="join", id=0, argv=options(node), folder=folder)
    with ended:
        ended.wait_for(lambda: len(statuses) == len(others) or any(statuses.values()) or TOLD.is_set())
    for node in others:
        leader.steps.pop((node, 0), None)
    return next((status for status in statuses.values() if status), 0)
