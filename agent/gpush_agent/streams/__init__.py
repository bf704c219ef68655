"""What a stream of the link can be: a command, a terminal, a connection, a listener."""
