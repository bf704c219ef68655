#!/usr/bin/env python3
"""A slow line, as ssh's ProxyCommand: `slow.py RTT_MS MBIT HOST PORT [COUNTS]`. Each direction has the rate and half of the round trip.
Bytes that have passed, up and down, are written to COUNTS at the end, one line for each connection."""
import collections
import os
import socket
import sys
import threading
import time

PIECE = 8192
MOST = 256 << 10        # bytes under way that the sender may be ahead, as in the buffer of a modem


class Line:
    def __init__(self, read, write, done, seconds, rate):
        self.read, self.write, self.done, self.seconds, self.rate = read, write, done, seconds, rate
        self.under_way, self.waiting = collections.deque(), 0
        self.room = threading.Condition()
        self.bytes = 0
        self.threads = [threading.Thread(target=self.take, daemon=True), threading.Thread(target=self.give, daemon=True)]
        for thread in self.threads:
            thread.start()

    def take(self):
        free = 0.0
        while True:
            try:
                piece = self.read(PIECE)
            except OSError:
                piece = b""
            with self.room:
                while self.waiting > MOST:
                    self.room.wait()
                now = time.monotonic()
                free = max(now, free) + len(piece) * 8 / self.rate
                self.under_way.append((free + self.seconds, piece))
                self.waiting += len(piece)
                self.bytes += len(piece)
                self.room.notify_all()
            if not piece:
                return

    def give(self):
        while True:
            with self.room:
                while not self.under_way:
                    self.room.wait()
                at, piece = self.under_way.popleft()
            time.sleep(max(0.0, at - time.monotonic()))
            try:
                if not piece:
                    self.done()
                    return
                self.write(piece)
            except OSError:
                return
            with self.room:
                self.waiting -= len(piece)
                self.room.notify_all()


def write_all(piece):
    while piece:
        piece = piece[os.write(1, piece):]


def main():
    rtt, mbit, host, port = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    there = socket.create_connection((host, port))
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    seconds, rate = rtt / 2000, mbit * 1e6
    up = Line(lambda size: os.read(0, size), there.sendall, lambda: there.shutdown(socket.SHUT_WR), seconds, rate)
    down = Line(there.recv, write_all, lambda: os.close(1), seconds, rate)
    down.threads[1].join()
    if len(sys.argv) > 5:
        with open(sys.argv[5], "a") as out:
            out.write("%d %d\n" % (up.bytes, down.bytes))


if __name__ == "__main__":
    main()
