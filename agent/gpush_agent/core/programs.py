"""Runs programs and functions side by side, each up to a time and a number of bytes, and never waits for what cannot be killed."""
import collections
import errno
import threading
import time

AT_ONCE = 16                # a debugger takes a processor for as long as it reads symbols
MAX_OUTPUT = 4 << 20
KILLED_SECONDS = 0.2        # until a program that was killed is gone
Output = collections.namedtuple("Output", "text error why")     # why: None, "timeout", "exit 9", "too long", the name of an errno


def within(work, items, seconds):
    """item -> what `work` returns, of those that are done in time. One that hangs keeps a thread, and no other one waiting."""
    left, found, end = collections.deque(items), {}, time.monotonic() + seconds

    def take():
        while True:
            try:
                item = left.popleft()
            except IndexError:
                return
            found[item] = work(item)
    threads = [threading.Thread(target=take, daemon=True) for _ in range(min(AT_ONCE, len(left)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    left.clear()
    return dict(found)


def run(commands, seconds):
    """`commands`: [(argv, environment)]. An Output for each, in their order."""
    end = time.monotonic() + seconds
    found = within(lambda at: one(*commands[at], end), range(len(commands)), seconds + KILLED_SECONDS)
    return [found.get(at, Output("", "", "timeout")) for at in range(len(commands))]


def one(argv, environment, end):
    """The Output of a program that may run until `end`. One whose driver hangs cannot be killed: this is called `within` a time."""
    import subprocess           # late: a machine without GPUs needs no program
    try:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                                   cwd="/")
    except (OSError, ValueError) as error:
        return Output("", "", errno.errorcode.get(getattr(error, "errno", None), "not started"))
    timer = threading.Timer(max(0.0, end - time.monotonic()), process.kill)
    timer.daemon = True
    timer.start()
    with process:
        out = process.stdout.read(MAX_OUTPUT)
        if len(out) == MAX_OUTPUT:
            process.kill()
        error = process.stderr.read(MAX_OUTPUT)
    timer.cancel()
    if len(out) == MAX_OUTPUT:
        why = "too long"
    elif process.returncode == 0:
        why = None
    else:
        why = "timeout" if time.monotonic() >= end else "exit %d" % process.returncode
    return Output(out.decode("utf-8", "replace"), error.decode("utf-8", "replace"), why)
