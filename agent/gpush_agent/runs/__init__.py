"""Runs: what is asked of them, the supervisor of each, its folder and journal, and failures told to other nodes."""
