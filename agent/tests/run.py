"""Runs one file of tests as the build does: python3 run.py test_files [slow]. `slow` are the tests marked so, without it the others:
what takes long or depends on seconds is @slow, and a file that takes more than ten seconds says SLOW = True. Those belong to the long
suite (part agent)."""
import sys
import unittest


def slow(test):
    """Marks a test, or a class of tests."""
    test.is_slow = True
    return test


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def is_slow(test):
    whole = getattr(sys.modules[type(test).__module__], "SLOW", False)
    return whole or hasattr(test, "is_slow") or hasattr(getattr(test, test._testMethodName, None), "is_slow")


def main(name, wanted=""):
    tests = [test for test in each(unittest.defaultTestLoader.loadTestsFromName(name)) if is_slow(test) == (wanted == "slow")]
    done = unittest.TextTestRunner().run(unittest.TestSuite(tests))
    sys.exit(not done.wasSuccessful())


if __name__ == "__main__":
    main(*sys.argv[1:])
