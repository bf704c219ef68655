"""Facts of recorded gangs against the facts beside them (GOLDEN=write writes those again), of this machine, and of nonsense."""
import json
import os
import shutil
import tempfile
import unittest

from run import slow
import trees
from gpush_agent.fabric import gather
from recorded import Recorded


def facts_of(node, root):
    node.write(root)
    return gather.facts(Recorded(root, {"PATH": "/usr/bin:/bin"}, "/root"), node.peers)


def described(node):
    known = {"name": node.name, "address": node.own(), "python": node.versions}
    return {key: value for key, value in known.items() if value}


def golden(name):
    return os.path.join(trees.FOLDER, name + ".json")


class TreesTest(unittest.TestCase):
    maxDiff = None

    @slow
    def test_each_recorded_gang_says_the_facts_beside_it(self):
        self.assertGreater(len(trees.names()), 3)
        for name in trees.names():
            gang = trees.Gang(name)
            found = {"title": gang.title, "nodes": []}
            for node in gang.nodes:
                root = tempfile.mkdtemp(prefix="gpt", dir=trees.WRITTEN)
                try:
                    found["nodes"].append(dict(described(node), facts=facts_of(node, root)))
                finally:
                    shutil.rmtree(root)
            if os.environ.get("GOLDEN") == "write":
                with open(golden(name), "w", encoding="utf-8") as file:
                    file.write(pretty(found))
            with open(golden(name), encoding="utf-8") as file:
                self.assertEqual(json.load(file), found, name)


def pretty(found):
    """One fact a line where it is a table, so that a change can be read."""
    out = ['{\n "title": %s,\n "nodes": [' % json.dumps(found["title"])]
    for number, node in enumerate(found["nodes"]):
        head = json.dumps({key: value for key, value in node.items() if key != "facts"})
        out.append("%s\n  %s, \"facts\": {" % ("," if number else "", head[:-1]))
        for at, key in enumerate(sorted(node["facts"])):
            out.append("%s\n   %s: %s" % ("," if at else "", json.dumps(key), rows(node["facts"][key])))
        out.append("\n  }}")
    return "".join(out) + "\n ]\n}\n"


def rows(value):
    items = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(value, (dict, list)) or len(items) < 2 or not any(isinstance(item, (dict, tuple)) for item in items):
        return json.dumps(value)
    if isinstance(value, dict):
        return "{" + ",".join("\n    %s: %s" % (json.dumps(key), json.dumps(inner)) for key, inner in items) + "}"
    return "[" + ",".join("\n    " + json.dumps(item) for item in items) + "]"


if __name__ == "__main__":
    unittest.main()
