"""What passes through a stream, and whether it is a sign of work. An open connection says nothing: clients and
editors send keepalives, and dashboards ask again and again. Pure: the clock is given, and what counts is told by `active(why)`."""

# Bytes of both directions, beyond which a minute of one stream counts.
STREAM_BYTES = 8192
# Added for each piece of a forwarded connection: editors compress what they send, so a key is many pieces and few bytes. With these,
# a silent window of VS Code's passes 4.5 kB a minute, and two keys a second 22 kB; without them the keys are 6.8 kB (measured).
PIECE_BYTES = 48
# Of what a terminal shows. A status line that is drawn every 15 s, and our own warnings, stay below it.
TERMINAL_BYTES = 2048
TERMINAL_SECONDS = 8 * 3600.0   # after the last key: a forgotten `watch` does not keep the node for ever
FORWARD = "data through a forward"
TERMINAL = "a terminal"         # who is connected, where nothing more is known
LONGEST_CLIENT = 40
# How a request begins that asks and changes nothing: pages of Jupyter, TensorBoard and dashboards repeat them by themselves.
QUESTIONS = (b"GET ", b"HEAD ", b"OPTIONS ")
LONGEST_QUESTION = 8


class Meter:
    """Counts bytes, and forgets `size` of them each minute."""

    def __init__(self, clock, size):
        self.clock, self.size = clock, size
        self.level, self.at = 0.0, clock()

    def passes(self, count):
        """Whether more than `size` is there with these; then it starts again from 0."""
        now = self.clock()
        self.level = max(0.0, self.level - (now - self.at) * self.size / 60.0) + count
        self.at = now
        if self.level <= self.size:
            return False
        self.level = 0.0
        return True


class Terminal:
    """Every key counts; output only if it is more than a status line, and not long after the last key."""

    def __init__(self, clock, active):
        self.clock, self.active = clock, active
        self.meter = Meter(clock, TERMINAL_BYTES)
        self.key = clock()

    def came(self, payload):
        self.key = self.clock()
        self.active("keys in a terminal")

    def went(self, count):
        if self.meter.passes(count) and self.clock() < self.key + TERMINAL_SECONDS:
            self.active("output of a terminal")


class Bytes:
    """A program without a terminal, of a user or of an editor."""

    def __init__(self, clock, active, why):
        self.meter, self.active, self.why = Meter(clock, STREAM_BYTES), active, why

    def came(self, payload):
        self.went(len(payload))

    def went(self, count):
        if self.meter.passes(count):
            self.active(self.why)


class Nothing:
    """Followers of output, because who looks on keeps no node; and what gpush does by itself, such as sync: the gateway knows
    which of the files were saved by a person, and says so by the call `active`."""

    def came(self, payload):
        pass

    def went(self, count):
        pass


class Forward(Bytes):
    """A forwarded connection. Questions over HTTP and their answers do not count; bodies that are sent and websockets do, each piece
    of them for some more than its bytes."""

    def __init__(self, clock, active):
        super().__init__(clock, active, FORWARD)
        self.asks = False

    def came(self, payload):
        self.asks = bytes(payload[:LONGEST_QUESTION]).startswith(QUESTIONS)
        self.passed(len(payload))

    def went(self, count):
        if not self.asks:
            self.passed(count)

    def passed(self, count):
        super().went(PIECE_BYTES + count)


def client_of(value, otherwise):
    """Who opened a stream: what its OPEN says, if that is a name."""
    name = value.get("client")
    return name[:LONGEST_CLIENT] if isinstance(name, str) and name.isprintable() and name else otherwise


def of_program(clock, active, value):
    """Watches an exec stream, of which this is the OPEN. Its start counts, too, unless gpush itself reads or writes with it."""
    builtin = value.get("builtin")
    if builtin in ("files", "follow", "history", "sample", "stacks"):
        return Nothing()
    active("files" if builtin else "a terminal" if value.get("pty") is not None else "a command")
    if builtin is not None:
        return Bytes(clock, active, "files")
    return Bytes(clock, active, "data of a command") if value.get("pty") is None else Terminal(clock, active)


def client_of_program(value):
    """Who is connected with this stream; None: gpush itself."""
    builtin = value.get("builtin")
    if builtin is not None:
        return client_of(value, "sftp") if builtin == "sftp" else None
    return TERMINAL if value.get("pty") is not None else client_of(value, "a command")
