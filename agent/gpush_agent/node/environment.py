"""The base environment of everything that runs on the node: given at start, or captured once from a login shell."""
import json
import os
import sys

from ..core import processes
from ..core.refused import Refused
from ..core.worker import Worker
from . import data
from .activation import Activation

SECONDS = 15.0
LIMIT = 1 << 20
MARK = "gpush-environment"
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
# of the connection or job step that happened to start the agent; wrong for everything that comes later
STALE = frozenset(("SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "SSH_AUTH_SOCK", "SSH_ORIGINAL_COMMAND", "TERM", "COLUMNS",
                   "LINES", "PWD", "OLDPWD", "SHLVL", "_", "XDG_SESSION_ID", "TMPDIR", "GPUSH_AGENT",
                   "GPUSH_MARK"))
SCHEDULER = ("SLURM_", "SLURMD_", "SRUN_", "SBATCH_", "PMI_", "PMIX_")


def cleaned(env):
    """Without what is stale; of Slurm's only the job's number stays (else srun in a shell would assume that it is in a step)."""
    return {name: value for name, value in env.items()
            if name not in STALE and (not name.startswith(SCHEDULER) or name == "SLURM_JOB_ID")}


def visible_devices(env):
    """The GPUs in the scheduler's variable; None if there is no such variable."""
    for name in ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        if name in env:
            return [word for word in env[name].split(",") if word and word != "NoDevFiles"]
    return None


def completed(env, account):
    """With what sshd sets for every session."""
    name, home, shell = account
    env = dict(env)
    env.update({"USER": name, "LOGNAME": name, "HOME": env.get("HOME") or home, "SHELL": shell})
    env.setdefault("PATH", PATH)
    return env


def capture(account):
    """In a forked child: `$SHELL -lc` prints its environment between markers; noise of profiles is cut away."""
    import subprocess
    script = 'import json, os; print("%s" + json.dumps(dict(os.environ)) + "%s")' % (MARK, MARK)
    command = "'%s' -I -S -c '%s'" % (sys.executable, script)
    _, home, shell = account
    folder = home if os.access(home, os.X_OK) else "/"
    env = completed(cleaned(dict(os.environ)), account)
    for options in (["-l", "-c"], ["-c"]):
        try:
            process = subprocess.Popen([shell] + options + [command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, cwd=folder, env=env)
            output = process.stdout.read(LIMIT)
            process.stdout.close()
            process.wait()
        except OSError:
            continue
        parts = output.split(MARK.encode())
        if len(parts) >= 3:
            try:
                return cleaned(json.loads(parts[1].decode()))
            except ValueError:
                pass
    raise Refused("failed", {"reason": "no environment from the login shell"})


class Environment:
    def __init__(self, agent, given, over=None, own=False):
        """`given`: the whole base; `own`: the agent's own, as a container's image and pod have made it (profiles of the
        image would take its PATH away again); else it is captured. `over` takes precedence."""
        self.agent = agent
        self.base = None
        self.over = dict(over or {})
        self.source = "given"
        self.waiting = []
        self.activation = Activation(agent)
        if given:
            self.base = self.whole(given)
        elif own:
            self.source = "own"
            self.base = self.whole(dict(os.environ))

    def start(self):
        home = self.agent.config.get("home")
        if home:
            self.activation.no_home = data.make_home(home, processes.account()[1])
        if self.base is None:
            Worker(self.agent.loop, self.agent.origin, lambda: capture(self.agent.account), self.captured, SECONDS)

    def captured(self, result, refused):
        self.source = "captured" if refused is None else "inherited"
        if refused is not None:
            self.agent.cannot("no-environment", {"shell": self.agent.account[2], "reason": refused.code})
        self.base = self.whole(result if refused is None else dict(os.environ))
        waiting, self.waiting = self.waiting, []
        for call in waiting:
            call()

    def whole(self, found):
        env = completed(cleaned(found), self.agent.account)
        env.update(self.over)
        return env

    def when_based(self, call):
        """When the base is known."""
        if self.base is None:
            self.waiting.append(call)
        else:
            call()

    def when_ready(self, call):
        """When the base is known, and what the session's activation makes of it."""
        if self.base is None:
            self.waiting.append(lambda: self.when_ready(call))
        elif self.activation.pending:
            self.activation.waiting.append(call)
        else:
            call()

    def active(self):
        """The base as the session's environment makes it."""
        env = dict(self.base, **self.activation.variables())
        self.activation.lay_over(env)
        return env
