"""No name is defined twice in one body: the second silently takes the place of the first."""
import ast
import unittest

import client


def twice(body):
    seen = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if node.name in seen and not getattr(node, "decorator_list", None):
                yield "%d: %s" % (node.lineno, node.name)
            seen.add(node.name)
            for found in twice(node.body):
                yield found


class NamesTest(unittest.TestCase):
    def test_each_is_defined_once(self):
        found = []
        for name in sorted(client.files()):
            if name.endswith(".py"):
                found += ["%s:%s" % (name, place) for place in twice(ast.parse(client.text(name)).body)]
        self.assertEqual(found, [])

    def test_a_second_one_is_found(self):
        source = "class A:\n  def b(self): pass\n  def b(self): pass\n"
        self.assertEqual(list(twice(ast.parse(source).body)), ["3: b"])


if __name__ == "__main__":
    unittest.main()
