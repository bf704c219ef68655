"""The end of an agent, without waiting in the loop: runs are stopped, then all descendants, then files
are released, then the agent's own folder; then the answer is sent and the process ends."""
import os
import shutil
import signal

from ..core import processes
from ..core.worker import Worker
from ..node import temporary
from ..runs import leftovers, rundir

RUN_GRACE = 5.0
TERM_GRACE = 3.0
POLL = 0.05
LONGEST_POLL = 2.0          # for what KILL does not end at once: each look reads all of /proc
KILL_SECONDS = 30.0         # a large process gives its memory back for some seconds; one that lives longer waits in the kernel
MOST_NAMED = 8
FILES_SECONDS = 300.0
LAST_SECONDS = 5.0


class Ending:
    def __init__(self, agent, why, answer):
        self.agent, self.loop, self.why = agent, agent.loop, why
        self.answers = [answer]
        self.kept, self.left = [], []
        self.stop_runs()
        self.until = self.loop.clock() + RUN_GRACE + 7
        self.wait_for_runs()

    def also(self, answer):
        """For a further request to end."""
        if self.left:
            answer([], self.left)
        else:
            self.answers.append(answer)

    def stop_runs(self):
        for run in self.agent.runs_alive():
            self.agent.stop_run(run, RUN_GRACE)

    def wait_for_runs(self):
        if self.agent.runs_alive() and self.loop.clock() < self.until:
            self.loop.after(POLL, self.wait_for_runs)
            return
        # a terminal is hung up, as when its user leaves; other processes get SIGTERM
        for owner in list(self.agent.execs):
            if owner.master >= 0:
                owner.hang_up()
        self.signalled, self.pause = None, POLL
        self.until = self.loop.clock() + TERM_GRACE
        self.wait_for_children()

    def wait_for_children(self):
        self.loop.reap()
        alive = self.descendants() + self.orphans()
        if not alive:
            self.left = []
            self.let_files_go()
            return
        if self.signalled is None:
            self.signalled = signal.SIGTERM
            processes.kill(alive, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)
        elif self.loop.clock() >= self.until:
            processes.kill(alive, signal.SIGKILL)
            self.pause = min(LONGEST_POLL, self.pause * 1.25)
            if self.loop.clock() >= self.until + KILL_SECONDS:
                self.name(alive)
        self.loop.after(self.pause, self.wait_for_children)

    def name(self, alive):
        """KILL ends nothing that waits in the kernel, as for a file server that is away. The answers name it; the agent stays,
        with what it holds, until it has ended."""
        self.left = ["%s (pid %d)" % (leftovers.who(pid).get("name", "a process"), pid) for pid in alive[:MOST_NAMED]]
        for answer in self.answers:
            answer([], self.left)
        self.answers = []

    def descendants(self):
        """Ours, and what the guard has from agents before us."""
        own = os.getpid()
        return [pid for pid in processes.descendants(self.agent.memo.guard or own) if pid != own]

    def orphans(self):
        """What an agent of this node that was killed has left."""
        return [pid for pid in rundir.marked(self.agent.mark) if processes.agent_mark(pid) is None]

    def let_files_go(self):
        agent = self.agent
        if not agent.state:
            self.done([], None)
            return
        keeps_files = self.why == "terminated"
        Worker(self.loop, agent.origin, lambda: self.release(keeps_files), self.done, FILES_SECONDS)

    def release(self, keeps_files):
        """In a worker."""
        agent = self.agent
        shutil.rmtree(temporary.below(agent.folder.path), ignore_errors=True)      # no link: that goes with the folder
        kept = release_files(agent.workspace, agent.state, keeps_files)
        if not keeps_files:
            remove_empty(agent.state, agent.gang, agent.node)
        return kept

    def done(self, kept, refused):
        agent = self.agent
        if refused is not None:
            agent.log("releasing files: %s %s" % (refused.code, refused.facts))
        self.kept = list(kept or [])
        agent.folder.remove()
        relays = [pipe.peer for pipe in agent.pipes]
        for answer in self.answers:
            answer(self.kept)
        self.until = self.loop.clock() + LAST_SECONDS
        self.leave(relays)

    def leave(self, relays):
        """Writes the last frames, if a gateway is connected, with BYE last; then the process ends. `relays`: they have to pass these
        on, and where we are the first process of a container the kernel ends them with us."""
        pipe, is_late = self.agent.pipe, self.loop.clock() >= self.until
        if pipe is not None and not pipe.closing:
            pipe.flush()
            if is_late or pipe.closed or not (pipe.out or self.agent.link.has_output()):
                pipe.bye("released", {"why": self.why, "kept": self.kept[:100]})
        for idle in [other for other in self.agent.pipes if other is not pipe and not other.closing]:
            idle.bye("released", {"why": self.why})
        speaks = any(pipe.closing or pipe is self.agent.pipe for pipe in self.agent.pipes)
        passes = any(processes.is_marked(pid) for pid in relays)
        if (speaks or passes or self.agent.peers.tunnels.busy()) and not is_late:
            self.loop.after(POLL, lambda: self.leave(relays))
            return
        self.loop.running = False


def release_files(workspace, state, keeps_files=False):
    """In a worker. What is not gpush's is named; what is temporary goes in any case, also that of runs whose
    supervisor was killed."""
    rundir.clean_lost(state)
    if keeps_files:
        return []
    shutil.rmtree(temporary.below(state), ignore_errors=True)
    from ..files import history         # late: an agent that ends must not fail on what only this worker needs
    from .release import release
    history.remove(workspace)
    kept = [str(path) for path in release(workspace, state) or []]
    try:
        os.rmdir(state)
    except OSError:
        pass
    return kept


def remove_empty(state, gang, node):
    """Where a backend gave us .../GANG/NODE/state, these two folders were made for us; whoever ends last removes the gang's."""
    node_folder = os.path.dirname(state)
    gang_folder = os.path.dirname(node_folder)
    if os.path.basename(node_folder) != str(node) or os.path.basename(gang_folder) != gang:
        return
    for folder in (node_folder, gang_folder):
        try:
            if os.lstat(folder).st_uid != os.geteuid():
                return
            os.rmdir(folder)
        except OSError:     # not empty: then it stays
            return
