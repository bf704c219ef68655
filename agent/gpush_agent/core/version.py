"""The version of the protocol that this agent speaks, and of the Python that runs it."""
import sys

VERSION = 2
PYTHON = sys.version.split()[0]      # what the module platform would say, which takes longer to load
