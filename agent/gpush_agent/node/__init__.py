"""What this node is and gives to what runs on it: facts, environment, TMPDIR."""
