"""The other nodes of the gang: lines between agents, the idle time of all, tunnels through node 0."""
