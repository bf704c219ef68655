"""TCP between nodes, each a thread here; what does not listen, or is another program."""
import socket
import threading
import time
import unittest

from gpush_agent.core.refused import Refused
from gpush_agent.fabric import pairs
from run import slow


def free(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        return [sock.getsockname()[1] for sock in sockets]
    finally:
        for sock in sockets:
            sock.close()


def asked(node, ports, **more):
    peers = [{"node": other, "address": "127.0.0.1", "port": port} for other, port in enumerate(ports) if other != node]
    return dict({"node": node, "port": ports[node], "from": "127.0.0.1", "mark": "m1", "peers": peers,
                 "seconds": 15}, **more)


def answers(questions):
    found = [None] * len(questions)

    def ask(at):
        found[at] = pairs.answer(questions[at])

    threads = [threading.Thread(target=ask, args=(at,)) for at in range(len(questions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@slow
class PairsTest(unittest.TestCase):
    def test_all_nodes_reach_each_other(self):
        ports = free(3)
        begun = time.monotonic()
        found = answers([asked(node, ports) for node in range(3)])
        for node, result in enumerate(found):
            self.assertEqual([other for other in range(3) if other != node], [pair["node"] for pair in result["pairs"]])
            self.assertTrue(all("ms" in pair for pair in result["pairs"]), result)
        self.assertLess(time.monotonic() - begun, 15)      # it ends when all have come, not at its limit

    def test_a_node_that_does_not_listen_refuses(self):
        ports = free(2)
        result = pairs.answer(asked(0, ports, seconds=0.3))
        self.assertEqual([{"node": 1, "why": "ECONNREFUSED"}], result["pairs"])

    def test_another_program_is_not_a_node(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen(64)
            done = threading.Event()

            def serve():
                other.settimeout(0.1)
                while not done.is_set():
                    try:
                        sock = other.accept()[0]
                    except OSError:
                        continue
                    sock.sendall(b"220 mail\r\n")
                    sock.close()

            thread = threading.Thread(target=serve)
            thread.start()
            try:
                result = pairs.answer(asked(0, [free(1)[0], other.getsockname()[1]], seconds=1))
            finally:
                done.set()
                thread.join()
        self.assertEqual([{"node": 1, "why": "foreign"}], result["pairs"])

    def test_a_silent_listener_is_a_timeout(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen(1)
            result = pairs.answer(asked(0, [free(1)[0], silent.getsockname()[1]], seconds=0.3))
        self.assertEqual([{"node": 1, "why": "timeout"}], result["pairs"])

    def test_a_port_that_is_taken_is_said(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen(1)
            self.assertEqual({"listen": "EADDRINUSE"}, pairs.answer(asked(0, [taken.getsockname()[1]], seconds=0.3)))

    def test_nonsense_is_refused(self):
        good = asked(0, [1, 2])
        for field, bad in (("seconds", 0), ("seconds", 1e9), ("seconds", "5"), ("peers", None), ("peers", [{}]), ("port", -1),
                           ("mark", ""), ("from", 7), ("node", True)):
            with self.assertRaises(Refused):
                pairs.answer(dict(good, **{field: bad}))


if __name__ == "__main__":
    unittest.main()
