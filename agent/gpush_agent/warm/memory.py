"""What a warm parent has in memory, and whether it is still what is on disk. In the user's interpreter."""
import os
import sys


def mark(path):
    try:
        at = os.stat(path)
        return [at.st_mtime_ns, at.st_size, at.st_ino]
    except OSError:
        return None


def places(program, path):
    """The interpreter, and the folders in which packages are installed."""
    paths = [sys.executable, os.path.realpath(sys.executable)]
    paths += [os.path.join(prefix, "pyvenv.cfg") for prefix in {sys.prefix, os.path.dirname(os.path.dirname(sys.executable))}]
    for folder in path:
        if folder and program.outside(folder):
            paths.append(folder)
            try:
                paths += [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith((".pth", ".dist-info", ".egg-link"))]
            except OSError:
                pass
    return {path: mark(path) for path in paths}


def loaded():
    """The file of each module that is in memory: the text that was compiled, and the library."""
    files = set()
    for module in list(sys.modules.values()):
        path = getattr(getattr(module, "__spec__", None), "origin", None)
        if isinstance(path, str) and path.startswith("/"):
            files.add(path)
    return {path: mark(path) for path in files}


def difference(was, now):
    return next((path for path in was if was[path] != now.get(path)), None) or next((path for path in now if path not in was), None)


def hiding(program, path, started_with):
    """A file of the workspace with the name of a module that is loaded: a cold start would take the file."""
    names = {name for name in sys.modules if "." not in name} - started_with
    for folder in program.first_folder() + [folder for folder in path if folder and not program.outside(folder)]:
        try:
            entries = os.listdir(folder)
        except OSError:
            continue
        for entry in entries:
            name = entry.partition(".")[0]
            file = os.path.join(folder, entry)
            if name in names and (entry.endswith((".py", ".so", ".pyc")) or any(
                    os.path.exists(os.path.join(file, "__init__" + ending)) for ending in (".py", ".pyc"))):
                return file
    return None
