"""A command of the program asks for processes on the nodes; a part of one text that begins with gang.py."""
def ask(counts, argv, env, cwd, gang, back):
    """Processes on these nodes, of which node 0 is this one; the status of the one that failed first. Without an environment
    they are not tasks, and each node gives them its own."""
    names = gang["names"]
    lines, ended = None, threading.Event()
    state = {"first": 0, "left": {node for node in counts if node}}
    lock = threading.RLock()         # a signal's handler runs on a thread that may hold it
    if state["left"]:
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(gang["socket"])
        lines = Lines(sock)
        lines.send(counts=counts, argv=argv, env=env, cwd=cwd, back=back)
    envs = [dict(os.environ if env is None else env, **({} if env is None else slurm_variables(0, names, local, counts)))
            for local in range(counts.get(0, 0))]
    step = Step().start(argv, envs, cwd)

    def fail(status):
        with lock:
            if status and not state["first"]:
                state["first"] = status
                step.stop()
                if lines:
                    try:
                        lines.send(op="stop")
                    except OSError:
                        pass

    def read():
        while state["left"]:
            message = lines.read()
            if message is None:
                fail(1)
                break
            if message["op"] == "out":
                stream = {1: sys.stdout, 2: sys.stderr}[message["channel"]].buffer
                stream.write(base64.b64decode(message["data"]))
                stream.flush()
            elif message["op"] == "end":
                state["left"].discard(message["node"])
                fail(message["status"])
        ended.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: fail(128 + number))
    if lines:
        threading.Thread(target=read, daemon=True).start()
    else:
        ended.set()
    fail(step.wait())
    ended.wait()
    return state["first"]
