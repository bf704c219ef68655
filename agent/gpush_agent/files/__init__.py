"""The project's folder on this node: the builtins files and sftp, and what would be lost with the node."""
