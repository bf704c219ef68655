"""The protocol of the link, without sockets and clocks: frames, the state machine, streams with credit."""
