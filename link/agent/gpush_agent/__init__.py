"""The gpush agent: holds one node of a gang and serves it over one link (docs/technical/link.md)."""
import sys

VERSION = 1
MINOR = 0
PYTHON = sys.version.split()[0]      # what the module platform would say, which takes longer to load
