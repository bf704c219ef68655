"""The session's environment on this node: what `python:`, `env:` and an activation make of the base environment.

A Python or a venv is looked up for each process (pythons): nothing is started and nothing can be out of date. Conda, modules
and a file need a shell: it runs once, as a login shell, and what it changed is kept as a difference (variables set and unset,
entries put before or behind those of a PATH) and laid over the environment of every process. The difference is made again
when the gateway says what the session wants and that, or a file it came from, is another one than before."""
import json
import os
import re
import subprocess
import sys
import tempfile

from ..core.refused import Refused
from ..core.worker import Worker
from . import data, profiles, pythons

SECONDS = 120.0             # conda on a cold network file system
LIMIT = 1 << 20             # bytes of an environment
MOST_OUTPUT = 16384         # of what a shell said: its end
LONGEST = 300               # characters of a reason
BASH = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash")
LISTS = frozenset(("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PYTHONPATH", "MANPATH", "PKG_CONFIG_PATH", "MODULEPATH"))
NAMED_LIKE_LISTS = re.compile(r".*(PATH|PATHS|DIRS)\Z")        # a list if there is a colon, or more than one value
OWN = frozenset(("_", "SHLVL", "PWD", "OLDPWD", "BASH_ENV", "PROMPT_COMMAND", "PS1"))      # a shell's own
LMOD = "Lmod has detected the following error:"
# Arguments: a descriptor for environments, a Python to write them, the conda environment, the file, and modules.
SCRIPT = r"""
gpush_fd=$1 gpush_python=$2 gpush_conda=$3 gpush_file=$4; shift 4
gpush_say() {
    "$gpush_python" -I -S -c 'import json, os, sys
os.write(int(sys.argv[1]), (json.dumps(dict(os.environ)) + "\n").encode())' "$gpush_fd"
}
gpush_source() {
    local each
    for each do [ -r "$each" ] && . "$each" && return 0; done
    return 1
}
gpush_say || exit 90
if [ $# -gt 0 ]; then
    type module >/dev/null 2>&1 || gpush_source "$MODULESHOME/init/bash" /etc/profile.d/modules.sh /etc/profile.d/lmod.sh \
        /etc/profile.d/z00_lmod.sh /usr/share/modules/init/bash /usr/share/lmod/lmod/init/bash
    type module >/dev/null 2>&1 || { echo "this node has no module command"; exit 91; }
    for gpush_module do
        # Old modules end with status 0 whatever happens.
        exec 9>&2 2>"$GPUSH_ERRORS"
        module load "$gpush_module"
        gpush_status=$?
        exec 2>&9 9>&-
        cat "$GPUSH_ERRORS"
        if [ $gpush_status != 0 ] || grep -q 'ERROR' "$GPUSH_ERRORS"; then exit 92; fi
    done
fi
if [ -n "$gpush_conda" ]; then
    gpush_init=$(sed -n "s/^ *__conda_setup=.*'\(\/[^']*\)\/bin\/conda'.*/\1/p" ~/.bashrc ~/.bash_profile 2>/dev/null | head -n 1)
    if ! type conda 2>/dev/null | grep -q function; then
        gpush_root=$(conda info --base 2>/dev/null)
        gpush_source "$gpush_root/etc/profile.d/conda.sh" "$gpush_init/etc/profile.d/conda.sh" \
            ~/miniforge3/etc/profile.d/conda.sh ~/miniconda3/etc/profile.d/conda.sh ~/mambaforge/etc/profile.d/conda.sh \
            ~/anaconda3/etc/profile.d/conda.sh /opt/conda/etc/profile.d/conda.sh /opt/miniforge3/etc/profile.d/conda.sh \
            /opt/miniconda3/etc/profile.d/conda.sh
    fi
    if type conda >/dev/null 2>&1; then
        conda activate "$gpush_conda" || exit 93
    elif type micromamba >/dev/null 2>&1; then
        eval "$(micromamba shell hook --shell bash)" && micromamba activate "$gpush_conda" || exit 93
    else
        echo "no conda was found: not on the PATH, in ~/.bashrc, or in its usual folders"; exit 93
    fi
fi
if [ -n "$gpush_file" ]; then
    [ -r "$gpush_file" ] || { echo "$gpush_file does not exist on the node, or cannot be read"; exit 94; }
    . "$gpush_file"
fi
gpush_say || exit 90
"""
STAGES = {90: "the environment", 91: "modules", 92: "modules", 93: "conda", 94: "file"}


def check(spec):
    """Raises Refused("bad-request")."""
    def texts(value):
        return isinstance(value, list) and all(isinstance(text, str) and "\0" not in text for text in value)

    env = spec.get("env") or {}
    good = (data.check(spec.get("data") or []) and texts(spec.get("candidates") or []) and texts(spec.get("modules") or [])
            and all(spec.get(name) is None or texts([spec[name]]) for name in ("conda", "file"))
            and isinstance(env, dict) and texts(list(env) + list(env.values())) and not any("=" in name or not name for name in env))
    if not good:
        raise Refused("bad-request", {"field": "environment"})


class Activation:
    def __init__(self, agent):
        self.agent = agent
        self.spec = {}
        self.data = {}              # variables with the places of data
        self.change = {}            # of the shell
        self.problem = None         # {"what", "because"}
        self.no_home = None         # the same, of the home folder
        self.made_of = None         # what the shell was told, and the state of the files it used
        self.pending = False        # there is no difference yet that may be used
        self.running = False
        self.waiting = []           # for the difference
        self.answers = []           # for the shell, also where the last difference may be used meanwhile

    # ---- what the session wants

    def use(self, spec, answer):
        """`answer()` is called when the environment is as the specification says, or is known to fail; with `wait` false, at
        once."""
        check(spec)
        if spec.get("wait") is False:
            answer()
            answer = nothing
        was = wanted(self.spec)
        self.spec, self.data = dict(spec), data.variables(spec.get("data") or [], self.agent.account)
        if wanted(spec) is None:
            self.change, self.problem, self.made_of = {}, None, None
            if not self.running and not spec.get("data"):
                answer()
                return
        elif wanted(spec) != was:
            self.pending = True
        self.answers.append(answer)
        if not self.running:
            self.running = True
            self.agent.environment.when_based(self.look)

    def look(self):
        spec, base = dict(self.spec), self.agent.environment.base
        made_of = None if spec.get("fresh") or self.problem else self.made_of
        place = self.agent.workspace or self.agent.account[1], self.agent.account, self.agent.environment.source != "own"
        if wanted(spec) is None and not spec.get("data"):
            self.agent.loop.after(0, lambda: self.looked(spec, {"change": {}, "made_of": None}, None))
            return
        Worker(self.agent.loop, self.agent.origin, lambda: look(spec, base, made_of, place),
               lambda result, refused: self.looked(spec, result, refused), SECONDS)

    def looked(self, spec, result, refused):
        if (wanted(spec), spec.get("data")) != (wanted(self.spec), self.spec.get("data")):
            self.look()             # the session wants something else by now
            return
        if refused is not None:
            because = "it took longer than %d s" % SECONDS if refused.code == "timeout" else str(refused.facts.get("reason", refused.code))
            result = {"change": {}, "made_of": None, "problem": {"what": "the environment", "because": because}}
        if not result.get("same"):
            self.change, self.problem, self.made_of = result["change"], result.get("problem"), result["made_of"]
        self.problem = self.problem or result.get("no_data")
        self.running = self.pending = False
        answers, self.answers = self.answers, []
        waiting, self.waiting = self.waiting, []
        for call in answers + waiting:
            call()

    def status(self):
        return {"problem": self.no_home or self.problem}

    # ---- what a process gets

    def variables(self):
        """Those that the configuration names, and those of its data."""
        return dict(self.spec.get("env") or {}, **self.data)

    def lay_over(self, env, own=(), candidates=None):
        """Changes `env` in place. `own`: variables that keep their values; `candidates`: another Python than the session's.
        Returns whether shells will find BASH_ENV in it."""
        own = set(own)
        values, ahead = {}, {}
        apply(self.change, env, own | set(self.variables()), values, ahead)
        if "PATH" not in own and "VIRTUAL_ENV" not in own:
            set_python(candidates or self.spec.get("candidates") or [], env, self.agent.state, values, ahead)
        return profiles.keep(env, values, ahead, self.agent.state)

    def warning(self, env):
        """One line for a terminal, or None."""
        problem = self.status()["problem"]
        if problem is not None:
            return "gpush: the environment of this session is not active: %s: %s" % (problem["what"], problem["because"])
        candidates = self.spec.get("candidates") or []
        if len(candidates) == 1 and pythons.first(candidates, env) is None:
            return "gpush: the Python of this session is not on this node: " + candidates[0]
        return None


def nothing():
    pass


def set_python(candidates, env, state, values, ahead):
    found, folders = pythons.changes(candidates, env, state)
    for name, text in found.items():
        if text is None:
            env.pop(name, None)
        else:
            env[name] = text
    values.update(found)
    if folders:
        entries = env["PATH"].split(":") if env.get("PATH") else []
        if entries[:len(folders)] != folders:
            entries = folders + entries
        env["PATH"] = ":".join(entries)
        ahead["PATH"] = folders + [entry for entry in ahead.get("PATH", ()) if entry not in folders]


def wanted(spec):
    """What a shell is needed for; None where it is not."""
    found = [spec.get("conda"), spec.get("modules") or [], spec.get("file")]
    return found + [spec.get("env") or {}] if any(found) else None


def look(spec, base, made_of, place):
    """In a forked child: the difference, or that it is the same as before; and what is wrong with the data."""
    no_data = data.problem(spec.get("data") or [], place[1])
    found = {"change": {}, "made_of": None} if wanted(spec) is None else look_again(spec, base, made_of, place)
    return dict(found, no_data=no_data)


def look_again(spec, base, made_of, place):
    if made_of is not None and made_of[0] == wanted(spec) and made_of[1] == stamps(made_of[1]):
        return {"same": True}
    folder, account, logs_in = place
    shell = next((path for path in BASH if os.access(path, os.X_OK)), None)
    what = {"conda": "conda " + str(spec.get("conda")), "modules": "modules " + " ".join(spec.get("modules") or []),
            "file": str(spec.get("file"))}
    file = spec.get("file")
    if file and (file == "~" or file.startswith("~/")):
        file = account[1] + file[1:]
    file = os.path.join(folder, file) if file else ""
    if shell is None:
        return {"change": {}, "made_of": None, "problem": {"what": "the environment", "because": "this node has no bash"}}
    words = [spec.get("conda") or "", file] + (spec.get("modules") or [])
    env = dict(base, **(spec.get("env") or {}))
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as out, tempfile.NamedTemporaryFile() as errors:
        command = [shell] + (["-l"] if logs_in else []) + ["-c", SCRIPT, "bash", str(said.fileno()), sys.executable] + words
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, pass_fds=(said.fileno(),),
                                   cwd=folder if os.path.isdir(folder) else "/", env=dict(env, GPUSH_ERRORS=errors.name))
        status = process.wait()
        said.seek(0)
        found = [json.loads(line.decode()) for line in said.read(LIMIT).split(b"\n")[:-1]]
        if status == 0 and len(found) == 2:
            change = difference(found[0], found[1])
            files = [file] if file else []
            if spec.get("conda"):
                prefix = found[1].get("CONDA_PREFIX", "")
                files += [prefix + "/conda-meta/history", prefix + "/etc/conda/activate.d"]
            return {"change": change, "made_of": [wanted(spec), stamps(files)]}
        stage = STAGES.get(status, "file" if file else "the environment") if len(found) < 2 else "the environment"
        because = last_line(out) or ("it ended its shell with status %d" % status)
        return {"change": {}, "made_of": None, "problem": {"what": what.get(stage, stage), "because": because}}


def last_line(out):
    size = out.seek(0, os.SEEK_END)
    out.seek(max(0, size - MOST_OUTPUT))
    text = "\n".join(line.strip() for line in out.read().decode("utf-8", "replace").splitlines())
    line = text.strip().rpartition("\n")[2]
    if LMOD in text:                    # Several lines, and after an empty one advice for the writers of modules.
        line = " ".join(text.rpartition(LMOD)[2].strip().partition("\n\n")[0].split())
    return "".join(letter if letter.isprintable() else " " for letter in line)[:LONGEST]


def stamps(paths):
    found = {}
    for path in paths:
        try:
            status = os.stat(path)
            found[path] = [status.st_ino, status.st_size, status.st_mtime_ns]
        except OSError:
            found[path] = None
    return found


def difference(before, after):
    """What makes `after` of `before`, and does the like with another environment."""
    change = {"set": {}, "unset": [], "lists": {}}
    for name in sorted(set(before) | set(after)):
        if name in OWN or before.get(name) == after.get(name):
            continue
        if name not in after:
            change["unset"].append(name)
        elif name in LISTS or (NAMED_LIKE_LISTS.match(name) and (name in before or ":" in after[name])):
            change["lists"][name] = entries(before.get(name, ""), after[name])
        else:
            change["set"][name] = after[name]
    return change


def entries(before, after):
    """Which entries were put first, put last, and taken away. Those that only moved to the beginning count as put first."""
    old, new = [text.split(":") if text else [] for text in (before, after)]
    at, last = len(new), len(old)
    while at > 0:               # the end of `new` in which old entries have their order
        if new[at - 1] in old:
            if old.index(new[at - 1]) >= last:
                break
            last = old.index(new[at - 1])
        at -= 1
    first, rest = new[:at], new[at:]
    while rest and rest[0] not in old:
        first.append(rest.pop(0))
    return {"first": first, "last": [entry for entry in rest if entry not in old], "gone": [entry for entry in old if entry not in new]}


def apply(change, env, own, values, ahead):
    """Changes `env` in place; `values` and `ahead` say what was changed."""
    for name in change.get("unset", ()):
        if name not in own and name in env:
            del env[name]
            values[name] = None
    for name, text in change.get("set", {}).items():
        if name not in own:
            env[name] = values[name] = text
    for name, parts in change.get("lists", {}).items():
        if name in own:
            continue
        there = env[name].split(":") if env.get(name) else []
        put = set(parts["first"]) | set(parts["last"]) | set(parts["gone"])
        env[name] = ":".join(parts["first"] + [entry for entry in there if entry not in put] + parts["last"])
        ahead[name] = list(parts["first"])
