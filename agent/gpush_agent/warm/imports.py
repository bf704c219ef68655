"""What a program begins by importing, read from its source in a child of a warm parent (parent). In the user's interpreter."""
import ast
import builtins
import importlib.util
import os
import sys

MOST_FILES = 2000           # of the workspace that are read for their imports
LARGEST_FILE = 1 << 20


class Program:
    """`target`: a script, or "-m" and a module."""

    def __init__(self, target, cwd, root):
        self.target, self.cwd, self.root = target, cwd, root

    def outside(self, path):
        """Whether it is not in the workspace."""
        return not (os.path.realpath(path) + "/").startswith(self.root + "/")

    def first_folder(self):
        """What a cold start has in front of sys.path."""
        if getattr(sys.flags, "safe_path", False):
            return []
        return [os.getcwd() if self.target[0] == "-m" else os.path.dirname(os.path.realpath(self.target[0]))]

    def scan(self):
        """{"imports": [[module, [names]]], "stop": place or None}: the imports from outside the workspace that are executed
        before anything else could change what they mean."""
        folders = self.first_folder() + [path for path in sys.path if path and not self.outside(path)]
        found, seen = [], set()

        class Stop(Exception):
            pass

        def locate(name):
            """The files of a module of the workspace, packages first; [] when it is not of the workspace."""
            for folder in folders:
                files, place = [], folder
                for part in name.split("."):
                    place = os.path.join(place, part)
                    if os.path.isfile(os.path.join(place, "__init__.py")):
                        files.append((os.path.join(place, "__init__.py"), True))
                    elif os.path.isfile(place + ".py"):
                        files.append((place + ".py", False))
                    elif not os.path.isdir(place):
                        break
                    elif not files and self.outside(place):
                        break
                else:
                    if files or importlib.util.find_spec(name.split(".")[0]) is None:
                        return files or [(place, True)]
            return []

        def visit(name):
            """Whether it belongs to the workspace; then its own imports come first."""
            files = locate(name)
            parts = name.split(".")
            for index, (path, is_package) in enumerate(files):
                own = ".".join(parts[:len(parts) - len(files) + index + 1])
                read(path, own if is_package else own.rpartition(".")[0])
            return bool(files)

        def read(path, package):
            if path in seen or not os.path.isfile(path):
                return
            seen.add(path)
            if len(seen) > MOST_FILES or os.path.getsize(path) > LARGEST_FILE:
                raise Stop("%s is too large" % path)
            with open(path, "rb") as file:
                tree = ast.parse(file.read(), path)
            known = set(dir(builtins))      # names that are not the workspace's own
            for statement in tree.body:
                if not take(statement, package, known):
                    raise Stop("%s:%d" % (path, statement.lineno))

        def take(statement, package, known):
            """False: from here on the workspace's own code may change what an import means."""
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    if not visit(alias.name):
                        found.append([alias.name, []])
                        known.add((alias.asname or alias.name).split(".")[0])
                return True
            if isinstance(statement, ast.ImportFrom):
                name = statement.module or ""
                if statement.level:
                    base = package.split(".")[:len(package.split(".")) - statement.level + 1]
                    name = ".".join(base + ([name] if name else []))
                if name == "__future__":
                    return True
                if statement.level or locate(name):
                    visit(name)
                    for alias in statement.names:
                        visit(name + "." + alias.name if name else alias.name)
                else:
                    found.append([name, [alias.name for alias in statement.names]])
                    known.update(alias.asname or alias.name for alias in statement.names)
                return True
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                known.discard(statement.name)
                return True
            return harmless(statement, known)

        def harmless(statement, known):
            if isinstance(statement, (ast.Pass, ast.Raise)):
                return True
            if isinstance(statement, ast.Expr):
                return not any(isinstance(node, ast.Call) for node in ast.walk(statement))
            if isinstance(statement, (ast.Import, ast.ImportFrom)):     # below a condition: not taken, and not the workspace's
                names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else [statement.module or ""]
                return not getattr(statement, "level", 0) and not any(locate(name) for name in names)
            if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                if not all(isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.Store)) for each in targets for node in ast.walk(each)):
                    return False
                return quiet(statement.value, known)
            if isinstance(statement, ast.If):
                return not_main(statement.test) and quiet(statement.test, known) and all(
                    harmless(each, known) for each in statement.body + statement.orelse)
            if isinstance(statement, ast.Try):
                return all(harmless(each, known) for each in statement.body + statement.orelse + statement.finalbody
                           + [each for handler in statement.handlers for each in handler.body])
            return False

        def not_main(test):
            return not any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))

        def quiet(value, known):
            """Calls only what comes from outside, and leaves the environment alone."""
            for node in ast.walk(value) if value is not None else ():
                if isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "putenv", "unsetenv"):
                    return False
                if isinstance(node, ast.Name) and node.id in ("environ", "environb", "putenv", "exec", "eval", "__import__"):
                    return False
                if isinstance(node, ast.Call):
                    callee = node.func
                    while isinstance(callee, (ast.Attribute, ast.Call)):
                        callee = callee.value if isinstance(callee, ast.Attribute) else callee.func
                    if not isinstance(callee, (ast.Name, ast.Constant if sys.version_info >= (3, 8) else ast.Str)) or (
                            isinstance(callee, ast.Name) and callee.id not in known):
                        return False
            return True

        stop, is_broken = None, False
        try:
            if self.target[0] == "-m":
                if locate(self.target[1]):
                    visit(self.target[1])
                    visit(self.target[1] + ".__main__")
            else:
                read(os.path.join(self.cwd, self.target[0]), "")
        except Stop as reason:
            stop = str(reason)
        except (SyntaxError, OSError, ValueError, RecursionError):      # the run itself will say it
            is_broken = True
        return {"imports": found, "stop": stop, "is_broken": is_broken}
