"""What the agent has on its host: its folder and socket, its locks, and how commands reach it there."""
