"""How long the agent holds its node: the lease, notices before its end, the end, and what would be lost with the node."""
