"""The Python package of gpush: its jars, its launcher, and a command that starts it."""
