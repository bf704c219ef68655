"""The project's folder on this node: the builtins files and sftp, and copies of it for runs."""
