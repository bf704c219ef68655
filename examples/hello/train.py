"""Every rank adds its number; all learn the sum. The standard library only: it shows what `gpush run` gives a program.

    gpush run train.py              all ranks of the session
    python train.py                 works alone, too
"""
import os
import socket
import sys
import time

# What gpush run (and torchrun) sets; alone, there is one rank.
RANK = int(os.environ.get("RANK", 0))
WORLD_SIZE = int(os.environ.get("WORLD_SIZE", 1))
MASTER = (os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", 0)))
PATIENCE = 30.0  # seconds until all must have come


def all_reduce(number):
    """The sum over all ranks: rank 0 collects it and hands it out."""
    if WORLD_SIZE == 1:
        return number
    return collect(number) if RANK == 0 else contribute(number)


def collect(total):
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.settimeout(PATIENCE)
        server.bind(("", MASTER[1]))
        server.listen(WORLD_SIZE)
        others = [server.accept()[0].makefile("rw") for _ in range(WORLD_SIZE - 1)]
    for other in others:
        total += int(other.readline())
    for other in others:
        print(total, file=other, flush=True)
        other.close()
    return total


def contribute(number):
    with connect() as connection, connection.makefile("rw") as file:
        print(number, file=file, flush=True)
        return int(file.readline())


def connect():
    """Rank 0 may still be starting."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(MASTER, timeout=PATIENCE)
        except OSError:
            if time.monotonic() > deadline:
                sys.exit("rank %d: nobody answers at %s:%d" % ((RANK,) + MASTER))
            time.sleep(0.02)


total = all_reduce(RANK)
print("rank %d of %d on %s: sum = %d" % (RANK, WORLD_SIZE, socket.gethostname(), total))
