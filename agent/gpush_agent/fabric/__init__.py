"""What a node says of its network and GPUs; see docs/technical/fabric.md."""
