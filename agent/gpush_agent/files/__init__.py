"""The project's folder on this node: the builtins files and sftp, copies of it for runs, and what would be lost with the node."""
