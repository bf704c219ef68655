"""What a program that uses paramiko does with a node: commands, a terminal, forwards, sftp, many channels at once.

  paramiko_client.py PORT USER KEY KNOWN_HOSTS ALIAS

Prints a line for each part that held, and "all" at the end; an assertion ends it.
"""
import hashlib
import os
import stat
import sys
import threading

import paramiko

port, user, key_file, known_hosts, alias = int(sys.argv[1]), *sys.argv[2:]
ECHO = (
    "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print(s.getsockname()[1], flush=True)\n"
    "c, _ = s.accept()\n"
    "while True:\n"
    "    b = c.recv(65536)\n"
    "    if not b: break\n"
    "    c.sendall(b)\n"
    "c.close()"
)


def connected():
    client = paramiko.SSHClient()
    client.load_host_keys(known_hosts)
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    key = paramiko.Ed25519Key.from_private_key_file(key_file)
    # Its known hosts have no alias as OpenSSH's do: the entry is given the address.
    hosts = client.get_host_keys()
    hosts.add("[127.0.0.1]:%d" % port, "ssh-ed25519", hosts.lookup(alias)["ssh-ed25519"])
    client.connect("127.0.0.1", port, user, pkey=key, allow_agent=False, look_for_keys=False)
    return client


def run(client, command, given=b"", **options):
    stdin, stdout, stderr = client.exec_command(command, timeout=120, **options)
    stdin.write(given)
    stdin.channel.shutdown_write()
    out, err = stdout.read(), stderr.read()
    return out, err, stdout.channel.recv_exit_status()


def commands(client):
    assert run(client, "echo out; echo err >&2; exit 7") == (b"out\n", b"err\n", 7)
    data = os.urandom(3000000)
    out, _, status = run(client, "cat", data)
    assert out == data and status == 0
    long = "x" * 100000
    assert run(client, "echo " + long) == (long.encode() + b"\n", b"", 0)
    out, _, status = run(client, "tty && stty size", get_pty=True)
    assert out.startswith(b"/dev/pts/") and b"24 80" in out and status == 0, out
    # A signal has no exit status: paramiko says -1.
    assert run(client, "kill -TERM $$")[2] == -1


def channels(client):
    answers = {}

    def one(number):
        answers[number] = run(client, "sleep 0.2; echo %d" % number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: (b"%d\n" % number, b"", 0) for number in range(40)}, answers


def sftp(client):
    files = client.open_sftp()
    folder = "paramiko-%d" % os.getpid()
    files.mkdir(folder)
    files.chdir(folder)
    data = os.urandom(5000000)
    with files.open("a", "wb") as file:
        file.set_pipelined(True)
        file.write(data)
    with files.open("a", "rb") as file:
        file.prefetch()
        assert hashlib.sha256(file.read()).digest() == hashlib.sha256(data).digest()
    with files.open("a", "rb") as file:
        assert file.readv([(0, 10), (4999990, 10)]).__next__() == data[:10]
    files.chmod("a", 0o640)
    files.utime("a", (1000000000, 1000000000))
    found = files.stat("a")
    assert (stat.S_IMODE(found.st_mode), found.st_mtime, found.st_size) == (0o640, 1000000000, 5000000)
    files.posix_rename("a", "b")
    files.symlink("b", "link")
    assert files.readlink("link") == "b" and sorted(files.listdir()) == ["b", "link"]
    try:
        files.stat("gone")
        raise AssertionError("a file that is not there has been found")
    except FileNotFoundError:
        pass
    files.remove("link")
    files.remove("b")
    files.chdir(None)
    files.rmdir(folder)


def forwards(client):
    _, stdout, _ = client.exec_command("exec python3 -c \"%s\"" % ECHO)
    there = int(stdout.readline())
    channel = client.get_transport().open_channel("direct-tcpip", ("127.0.0.1", there), ("127.0.0.1", 1))
    channel.sendall(b"ping")
    assert channel.recv(10) == b"ping"
    channel.shutdown_write()
    assert channel.recv(10) == b""
    channel.close()
    try:
        client.get_transport().open_channel("direct-tcpip", ("127.0.0.1", 1), ("127.0.0.1", 1))
        raise AssertionError("a port where nobody listens has been opened")
    except paramiko.ChannelException as refused:
        assert refused.code == 2, refused

    back = client.get_transport().request_port_forward("127.0.0.1", 0)
    command = "import socket; s = socket.create_connection(('127.0.0.1', %d)); s.sendall(b'hi'); print(s.recv(9))" % back
    _, stdout, _ = client.exec_command("python3 -c \"%s\"" % command)
    channel = client.get_transport().accept(120)
    assert channel.recv(2) == b"hi"
    channel.sendall(b"there")
    assert stdout.read() == b"b'there'\n"
    client.get_transport().cancel_port_forward("127.0.0.1", back)


def rekeys(client):
    client.get_transport().renegotiate_keys()
    assert run(client, "echo after") == (b"after\n", b"", 0)


with connected() as connection:
    for part in commands, channels, sftp, forwards, rekeys:
        part(connection)
        print(part.__name__, flush=True)
print("all")
