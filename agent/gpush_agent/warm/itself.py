"""What every process has of its own, for ranks that are forked from a warm parent. In the user's interpreter."""
import os
import sys


def raw(text):
    return text.encode("utf-8", "surrogateescape")


def given():
    """The environment of the start: the interpreter itself adds LC_CTYPE to it in the C locale."""
    with open("/proc/self/environ", "rb") as file:
        return dict(entry.partition(b"=")[::2] for entry in file.read().split(b"\0") if entry)


def own_chance():
    """What a process draws at its start, and must not share with the other ranks."""
    if "random" in sys.modules:
        sys.modules["random"].seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    # torch draws its first seed when it is loaded; that of a GPU comes later, in the rank.
    generator = getattr(sys.modules.get("torch"), "default_generator", None)
    if generator is not None:
        generator.seed()
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)


def rename(words, run_mark, room):
    """What others read in /proc: the words of the rank, and the mark by which what a run leaves behind is found."""
    try:
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        start, end, env_start, env_end = (int(field) for field in fields[45:49])
        with open("/proc/self/environ", "rb") as file:
            at = (b"\0" + file.read()).find(b"\0GPUSH_MARK=")
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            text = b"".join(raw(word) + b"\0" for word in words)[:end - start]
            memory.seek(start)
            memory.write(text.ljust(end - start, b"\0"))
            if at >= 0:
                memory.seek(env_start + at + len(b"GPUSH_MARK="))
                memory.write(run_mark[:room].ljust(room, b"\0"))
    except (OSError, ValueError, IndexError):
        pass
