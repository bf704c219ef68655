"""What a node says of its network and GPUs, read below a root folder; see docs/technical/fabric.md."""
