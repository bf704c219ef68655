"""The packages of the agent: what imports what, without a circle, and few enough modules in each to be read as a list."""
import ast
import os
import re
import unittest

import client

MOST_MODULES = 15
LATE = re.compile(r"gpush_agent(\.\w+)+\Z")     # a module that is loaded by its name, when it is first wanted


def sources():
    """The text of each module by its dotted name; a package's is that of its __init__."""
    found = {}
    for name in client.files():
        if name.endswith(".py"):
            dotted = "gpush_agent." + name[:-3].replace(os.sep, ".")
            found[re.sub(r"\.__init__\Z", "", dotted)] = client.text(name)
    return found


def imports(name, text, modules):
    """Every module of ours that this one may load at any time: by a statement, also one in a function, or by its name."""
    # A package is a module whose name others begin with.
    package = name if any(other.startswith(name + ".") for other in modules) else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join(parts[:len(parts) - node.level + 1] + ([base] if base else []))
            for alias in node.names:
                inner = base + "." + alias.name
                yield inner if inner in modules else base
        elif type(node).__name__ in ("Constant", "Str"):        # the second before Python 3.8
            value = getattr(node, "s" if type(node).__name__ == "Str" else "value")
            if isinstance(value, str) and LATE.match(value):
                yield value


def graph(modules):
    """Module -> modules that it imports. Raises KeyError for one of ours that does not exist."""
    edges = {}
    for name, text in modules.items():
        ours = {found for found in imports(name, text, modules) if found.split(".")[0] == "gpush_agent"}
        missing = ours.difference(modules)
        if missing:
            raise KeyError("%s imports %s" % (name, sorted(missing)))
        edges[name] = ours - {name}
    return edges


def between_packages(edges):
    """The same of packages. gpush_agent itself is one: the modules that put the others together."""
    packages = {}
    for name, others in edges.items():
        own = package_of(name, edges)
        packages.setdefault(own, set()).update(package_of(other, edges) for other in others)
        packages[own].discard(own)
    return packages


def package_of(name, modules):
    return name if any(other.startswith(name + ".") for other in modules) else name.rpartition(".")[0]


def circle(edges):
    """The names of one circle, or []."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return []
        path.append(name)
        for other in sorted(edges.get(name, ())):
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(name)
        return []

    for name in sorted(edges):
        found = visit(name)
        if found:
            return found
    return []


class PackagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.modules = sources()
        cls.edges = graph(cls.modules)

    def test_no_circle_of_modules(self):
        self.assertEqual(circle(self.edges), [])

    def test_no_circle_of_packages(self):
        self.assertEqual(circle(between_packages(self.edges)), [])

    def test_packages_import_as_the_table_of_the_readme_says(self):
        with open(os.path.join(os.path.dirname(client.PACKAGE), "README.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| `(\w+)` \|", file.read(), re.M)
        rank = {"gpush_agent" if row == "gpush_agent" else "gpush_agent." + row: at for at, row in enumerate(rows)}
        packages = between_packages(self.edges)
        self.assertEqual(sorted(rank), sorted(packages))
        self.assertEqual([], ["%s imports %s" % (name, other) for name in sorted(packages) for other in sorted(packages[name])
                              if rank[other] <= rank[name]])

    def test_packages_are_small_and_say_what_they_are_for(self):
        packages = {}
        for name in self.modules:
            packages.setdefault(package_of(name, self.modules), []).append(name)
        self.assertGreater(len(packages), 5)
        for package, modules in packages.items():
            self.assertLessEqual(len(modules) - 1, MOST_MODULES, package)
            self.assertTrue(ast.get_docstring(ast.parse(self.modules[package])), "%s has no __init__ that says so" % package)

    def test_every_module_is_used(self):
        used = set().union(*self.edges.values()) | {"gpush_agent", "gpush_agent.loader", "gpush_agent.copies.near"}
        self.assertEqual([name for name in sorted(self.modules) if name not in used and package_of(name, self.modules) != name], [])


class CirclesAreFoundTest(unittest.TestCase):
    """The test above can fail: each kind of import that the agent knows makes a circle."""

    def circle_with(self, text):
        modules = {"gpush_agent": "", "gpush_agent.a": "", "gpush_agent.a.x": text, "gpush_agent.b": "",
                   "gpush_agent.b.y": "from ..a import x\n"}
        edges = graph(modules)
        return circle(edges), circle(between_packages(edges))

    def test_by_each_kind_of_import(self):
        for text in ("from ..b import y", "from ..b.y import name", "import gpush_agent.b.y", "from gpush_agent.b.y import name",
                     "def f():\n    from ..b import y", "import importlib\nimportlib.import_module('gpush_agent.b.y')"):
            self.assertEqual(self.circle_with(text), (["gpush_agent.a.x", "gpush_agent.b.y", "gpush_agent.a.x"],
                                                      ["gpush_agent.a", "gpush_agent.b", "gpush_agent.a"]), text)

    def test_only_between_packages(self):
        modules = {"gpush_agent": "", "gpush_agent.a": "", "gpush_agent.a.x": "from ..b import y", "gpush_agent.a.z": "",
                   "gpush_agent.b": "", "gpush_agent.b.y": "from ..a import z\n"}
        edges = graph(modules)
        self.assertEqual((circle(edges), circle(between_packages(edges))), ([], ["gpush_agent.a", "gpush_agent.b", "gpush_agent.a"]))

    def test_a_module_that_is_not_there(self):
        self.assertRaises(KeyError, self.circle_with, "import importlib\nimportlib.import_module('gpush_agent.c')")


if __name__ == "__main__":
    unittest.main()
