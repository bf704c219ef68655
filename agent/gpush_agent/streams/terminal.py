"""Pseudo terminals: opening, size, and the modes of RFC 4254 section 8."""
import fcntl
import os
import struct
import termios

# RFC 4254 opcode -> name; the names are those of termios
OPCODES = {1: "VINTR", 2: "VQUIT", 3: "VERASE", 4: "VKILL", 5: "VEOF", 6: "VEOL", 7: "VEOL2", 8: "VSTART", 9: "VSTOP",
           10: "VSUSP", 12: "VREPRINT", 13: "VWERASE", 14: "VLNEXT", 18: "VDISCARD",
           30: "IGNPAR", 31: "PARMRK", 32: "INPCK", 33: "ISTRIP", 34: "INLCR", 35: "IGNCR", 36: "ICRNL", 37: "IUCLC",
           38: "IXON", 39: "IXANY", 40: "IXOFF", 41: "IMAXBEL", 42: "IUTF8",
           50: "ISIG", 51: "ICANON", 52: "XCASE", 53: "ECHO", 54: "ECHOE", 55: "ECHOK", 56: "ECHONL", 57: "NOFLSH",
           58: "TOSTOP", 59: "IEXTEN", 60: "ECHOCTL", 61: "ECHOKE", 62: "PENDIN",
           70: "OPOST", 71: "OLCUC", 72: "ONLCR", 73: "OCRNL", 74: "ONOCR", 75: "ONLRET",
           90: "CS7", 91: "CS8", 92: "PARENB", 93: "PARODD"}
BITS = {"IUTF8": 0o40000}       # not in the termios module of every Python; the Linux value


def open_pty(columns, rows, modes):
    """(master, slave), the master non-blocking."""
    master, slave = os.openpty()
    try:
        resize(master, columns, rows)
        set_modes(slave, modes or {})
        os.set_blocking(master, False)
    except BaseException:
        os.close(master)
        os.close(slave)
        raise
    return master, slave


def resize(fd, columns, rows):
    clamp = [max(0, min(65535, int(value))) for value in (rows, columns)]
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", clamp[0], clamp[1], 0, 0))


def set_modes(fd, modes):
    state = termios.tcgetattr(fd)
    for key, value in modes.items():
        number = int(key) if key.isdigit() and len(key) < 4 else 0
        name = OPCODES.get(number)
        if name is None or not isinstance(value, int):
            continue
        bit = getattr(termios, name, BITS.get(name))
        if bit is None:
            continue
        if number < 30:
            state[6][bit] = bytes([value & 255]) if value < 255 else b"\x00"
        elif number in (90, 91):
            if value:
                state[2] = (state[2] & ~termios.CSIZE) | bit
        else:
            index = 0 if number < 50 else 3 if number < 70 else 1 if number < 90 else 2
            state[index] = state[index] | bit if value else state[index] & ~bit
    termios.tcsetattr(fd, termios.TCSANOW, state)


def take_control(fd):
    """In the child, after setsid: makes `fd` the controlling terminal."""
    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)


def foreground(master):
    """The foreground process group of the terminal, or 0."""
    try:
        return os.tcgetpgrp(master)
    except OSError:
        return 0


def write_line(path, text):
    """Writes into a terminal as wall(1) does: what does not fit at once is left out."""
    fd = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.write(fd, ("\r\n" + text + "\r\n").encode("utf-8", "replace"))
    finally:
        os.close(fd)
