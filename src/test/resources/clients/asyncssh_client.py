"""What a program that uses asyncssh does with a node: commands, signals, a terminal, forwards of ports and sockets, sftp.

  asyncssh_client.py PORT USER KEY KNOWN_HOSTS ALIAS

Prints a line for each part that held, and "all" at the end; an assertion ends it.
"""
import asyncio
import os
import sys
import tempfile

import asyncssh

port, user, key_file, known_hosts, alias = int(sys.argv[1]), *sys.argv[2:]


def connected():
    return asyncssh.connect(
        "127.0.0.1",
        port,
        username=user,
        client_keys=[key_file],
        known_hosts=known_hosts,
        host_key_alias=alias,
        agent_path=None,
        config=None,
    )


async def commands(connection):
    answer = await connection.run("echo out; echo err >&2; exit 7")
    assert (answer.stdout, answer.stderr, answer.exit_status) == ("out\n", "err\n", 7), answer
    answer = await connection.run("kill -TERM $$")
    assert answer.exit_signal[0] == "TERM", answer.exit_signal
    answer = await connection.run("read a; echo $a; exit 3", input="hi\n")
    assert (answer.stdout, answer.exit_status) == ("hi\n", 3), answer
    many = await asyncio.gather(*(connection.run("echo %d" % number) for number in range(60)))
    assert [answer.stdout for answer in many] == ["%d\n" % number for number in range(60)]


async def signals(connection):
    process = await connection.create_process("trap 'echo told; exit 5' USR1; echo ready; while :; do sleep 0.05; done")
    assert await process.stdout.readline() == "ready\n"
    process.send_signal("USR1")
    assert await process.stdout.readline() == "told\n"
    await process.wait()
    assert process.exit_status == 5


async def terminal(connection):
    process = await connection.create_process(
        "trap 'stty size; exit' WINCH; stty size; while :; do sleep 0.05; done", term_type="xterm", term_size=(91, 23)
    )
    assert (await process.stdout.readline()).strip() == "23 91"
    process.send_break(100)
    process.change_terminal_size(132, 50)
    assert (await process.stdout.readline()).strip() == "50 132"
    await process.wait()


async def forwards(connection):
    async def echo(reader, writer):
        writer.write(await reader.read(100))
        writer.close()

    here = await asyncio.start_server(echo, "127.0.0.1", 0)
    to = here.sockets[0].getsockname()[1]
    async with await connection.forward_remote_port("127.0.0.1", 0, "127.0.0.1", to) as back:
        line = "exec 3<>/dev/tcp/127.0.0.1/%d; echo through >&3; cat <&3" % back.get_port()
        assert (await connection.run("bash -c '%s'" % line)).stdout == "through\n"
        # A port of the node, reached from here through the node again.
        async with await connection.forward_local_port("127.0.0.1", 0, "127.0.0.1", back.get_port()) as forth:
            reader, writer = await asyncio.open_connection("127.0.0.1", forth.get_port())
            writer.write(b"both ways")
            assert await reader.read(100) == b"both ways"
            writer.close()
    folder = (await connection.run("mktemp -d")).stdout.strip()
    path = folder + "/socket"
    async with await connection.forward_remote_path_to_port(path, "127.0.0.1", to):
        reader, writer = await connection.open_unix_connection(path)
        writer.write(b"by a socket")
        assert await reader.read(100) == b"by a socket"
        writer.close()
    await connection.run("rm -r " + folder)
    here.close()


async def sftp(connection):
    async with connection.start_sftp_client() as files:
        folder = "asyncssh-%d" % os.getpid()
        with tempfile.TemporaryDirectory() as here:
            tree = os.path.join(here, folder)
            os.mkdir(tree)
            for number in range(100):
                with open(os.path.join(tree, "%d.bin" % number), "wb") as file:
                    file.write(os.urandom(number * 100))
            await files.put(tree, recurse=True, preserve=True)
            back = os.path.join(here, "back")
            await files.get(folder, back, recurse=True, preserve=True)
            for name in os.listdir(tree):
                one, other = os.path.join(tree, name), os.path.join(back, name)
                assert open(one, "rb").read() == open(other, "rb").read(), name
                assert int(os.stat(one).st_mtime) == int(os.stat(other).st_mtime), name
        assert len(await files.glob(folder + "/*.bin")) == 100
        await files.rmtree(folder)
        assert not await files.exists(folder)


async def main():
    async with connected() as connection:
        for part in commands, signals, terminal, forwards, sftp:
            await asyncio.wait_for(part(connection), 120)
            print(part.__name__, flush=True)
    print("all")


asyncio.run(main())
