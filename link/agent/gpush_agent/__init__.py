"""The gpush agent: holds one node of a gang and serves it over one link (docs/technical/link.md)."""
VERSION = 1
MINOR = 0
