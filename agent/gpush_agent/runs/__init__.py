"""Runs: requests about them, the supervisor of each, its folder and journal, and failures told to other nodes."""
