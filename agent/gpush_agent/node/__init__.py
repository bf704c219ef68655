"""The node: its facts, and the environment and TMPDIR of what runs on it."""
