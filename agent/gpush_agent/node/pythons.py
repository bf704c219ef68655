"""The Python of a session on this node, found without starting it, and what activating its environment sets."""
import hashlib
import os

from ..core.wholefile import replace

SYSTEM = ("/usr/bin", "/bin", "/usr/local/bin")     # other programs there must not come before those of the PATH
WRAPPER = "#!/bin/sh\nexec '%s' \"$@\"\n"


def python_of(candidate, env):
    """The program, or None: a path, a folder with bin/python, a name on PATH, or a word for what is active here."""
    if candidate in ("@venv", "@conda"):
        folder = env.get("VIRTUAL_ENV" if candidate == "@venv" else "CONDA_PREFIX")
        candidate = os.path.join(folder, "bin/python") if folder else ""
    elif candidate == "~" or candidate.startswith("~/"):
        candidate = env.get("HOME", "") + candidate[1:]
    if "/" in candidate:
        path = os.path.join("/", candidate)
        paths = [os.path.join(path, "bin/python") if os.path.isdir(path) else path]
    else:
        paths = [os.path.join(folder, candidate) for folder in env.get("PATH", os.defpath).split(":")] if candidate else []
    for path in paths:
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def first(candidates, env):
    """The first of the candidates that exists here, or None."""
    for candidate in candidates:
        path = python_of(candidate, env)
        if path is not None:
            return path
    return None


def changes(candidates, env, state=None):
    """(variables to set, with None to unset; folders that belong at the beginning of PATH). Nothing where the first
    Python that exists is no environment of its own, unless the user has named it: then `python3` must be that one."""
    path = first(candidates, env)
    if path is None:
        return {}, []
    programs = os.path.dirname(path)
    prefix = os.path.dirname(programs)
    if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
        return {"VIRTUAL_ENV": prefix}, [programs]
    if len(candidates) > 1:
        return {}, []
    values, folders = {}, []
    if env.get("VIRTUAL_ENV"):
        values["VIRTUAL_ENV"] = None
    if os.path.isdir(os.path.join(prefix, "conda-meta")) and env.get("CONDA_PREFIX") != prefix:
        values.update(CONDA_PREFIX=prefix, CONDA_DEFAULT_ENV=os.path.basename(prefix))
    if programs not in SYSTEM:
        folders.append(programs)
    found = python_of("python3", {"PATH": ":".join(folders + [env.get("PATH", os.defpath)])})
    if state and not (found and is_same(found, path)):
        try:
            folders.insert(0, wrapped(path, state))
        except OSError:         # the state folder cannot be written
            pass
    return values, folders


def is_same(found, path):
    """The same interpreter. The program of a venv is a link to the interpreter, and it is another Python."""
    prefix = os.path.dirname(os.path.dirname(found))
    return os.path.realpath(found) == os.path.realpath(path) and not os.path.isfile(os.path.join(prefix, "pyvenv.cfg"))


def wrapped(path, state):
    """A folder in which python and python3 are this interpreter. Scripts, because a link would be another sys.executable."""
    folder = os.path.join(state, "environment", "python-" + hashlib.sha256(os.fsencode(path)).hexdigest()[:12])
    for name in ("python", "python3"):
        write(os.path.join(folder, name), WRAPPER % path.replace("'", "'\\''"), 0o755)
    return folder


def write(path, text, mode):
    """If it is not there."""
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    replace(path, text, mode)
