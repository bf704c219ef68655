"""One thread, one selector: file descriptors, timers, child processes. Nothing in it ever waits for anything else."""
import collections
import errno
import heapq
import os
import selectors
import signal
import socket
import traceback

from . import clock

REST_SECONDS = 0.25
NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Timer:
    __slots__ = ("at", "call", "live")

    def __init__(self, at, call):
        self.at, self.call, self.live = at, call, True

    def cancel(self):
        self.live = False


class Loop:
    def __init__(self, log=None, clock=clock.now):
        self.clock = clock
        self.log = log or (lambda text: None)
        self.selector = selectors.DefaultSelector()
        self.watched = {}           # fd -> [on_read, on_write]
        self.timers = []            # heap of (at, tie, Timer)
        self.tie = 0
        self.children = {}          # pid -> call(wait status)
        self.posted = collections.deque()
        self.running = True
        self.wake_in, self.wake_out = socket.socketpair()
        self.wake_in.setblocking(False)
        self.wake_out.setblocking(False)
        self.read(self.wake_in.fileno(), self._woken)
        self.before_wait = lambda: None     # called before every wait; writes what is to be written

    # ---- file descriptors

    def read(self, fd, call):
        self._set(fd, 0, call)

    def write(self, fd, call):
        self._set(fd, 1, call)

    def _set(self, fd, index, call):
        entry = self.watched.get(fd)
        if entry is None:
            if call is None:
                return
            entry = self.watched[fd] = [None, None]
            entry[index] = call
            self.selector.register(fd, selectors.EVENT_WRITE if index else selectors.EVENT_READ, entry)
            return
        had = entry[index] is not None
        entry[index] = call
        if had == (call is not None):
            return
        events = (selectors.EVENT_READ if entry[0] else 0) | (selectors.EVENT_WRITE if entry[1] else 0)
        if events:
            self.selector.modify(fd, events, entry)
        else:
            self.selector.unregister(fd)
            del self.watched[fd]

    def forget(self, fd):
        entry = self.watched.pop(fd, None)
        if entry is not None:
            entry[0] = entry[1] = None
            self.selector.unregister(fd)

    def rest(self, sock, call):
        """No descriptor is left for whoever knocks at this socket: asks again in a moment, and not at every turn."""
        self.read(sock.fileno(), None)
        self.after(REST_SECONDS, lambda: sock.fileno() >= 0 and self.read(sock.fileno(), call))

    # ---- time

    def after(self, seconds, call):
        timer = Timer(self.clock() + seconds, call)
        self.tie += 1
        heapq.heappush(self.timers, (timer.at, self.tie, timer))
        return timer

    def post(self, call):
        """For other threads: the loop makes this call."""
        self.posted.append(call)
        try:
            self.wake_out.send(b"\0")
        except BlockingIOError:     # it is awake
            pass

    # ---- children

    def catch_signals(self, on_terminate):
        """SIGCHLD reaps; SIGTERM and SIGINT ask the agent to end properly."""
        signal.set_wakeup_fd(self.wake_out.fileno())
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, frame: on_terminate())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))     # a guard starts us with these blocked

    def child(self, pid, call):
        self.children[pid] = call

    def _woken(self):
        try:
            while self.wake_in.recv(4096):
                pass
        except BlockingIOError:
            pass
        self.reap()
        while self.posted:
            self._call(self.posted.popleft())

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            call = self.children.pop(pid, None)
            if call is not None:
                self._call(lambda: call(status))

    def _call(self, call):
        try:
            call()
        except Exception:           # the top of every handler, see turn
            self.log(traceback.format_exc())

    # ---- running

    def run(self):
        while self.running:
            self.turn()

    def turn(self):
        self.before_wait()
        timeout = None
        while self.timers and not self.timers[0][2].live:
            heapq.heappop(self.timers)
        if self.timers:
            timeout = max(0.0, self.timers[0][0] - self.clock())
        for key, events in self.selector.select(timeout):
            entry = key.data
            try:
                if events & selectors.EVENT_READ and entry[0] is not None:
                    entry[0]()
                if events & selectors.EVENT_WRITE and entry[1] is not None:
                    entry[1]()
            except Exception:       # the top of every handler: a bug in one costs its descriptor, not the node
                self.log(traceback.format_exc())
                self.forget(key.fd)
        now = self.clock()
        while self.timers and self.timers[0][0] <= now:
            timer = heapq.heappop(self.timers)[2]
            if timer.live:
                timer.live = False
                self._call(timer.call)
