"""Which part of it a process is; the end of one text that begins with gang.py."""
PROGRAMS = {"batch": batch, "mpi": mpi, "ray": ray}
COMMANDS = {"srun": srun, "scontrol": scontrol, "rsh": rsh}


def main():
    if len(sys.argv) > 1 and sys.argv[1] in COMMANDS:
        # As any command: a reader that has enough, like head, ends it without a word.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        return COMMANDS[sys.argv[1]](sys.argv[2:], json.loads(os.environ["GPUSH_GANG"]))
    # The program gets these signals too; this process waits for its end. Handlers are not inherited.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: TOLD.set())
    spec = json.loads(sys.argv[2])
    # Each node's own.
    os.environ.update(GPUSH_RUN_FOLDER=os.getcwd(), GPUSH_FAILED_RANKS=tempfile.mkdtemp(prefix="failed-"))
    return (Follower().run if os.environ["GPUSH_NODE"] != "0" else Leader(spec).run)()


SOURCE = sys.argv[1] if sys.argv[0] == "-c" else ""
if __name__ == "__main__":
    os._exit(main() or 0)
