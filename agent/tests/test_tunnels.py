"""Tunnels: node 0 copies between the gateway and node k, and neither end believes anybody else."""
import base64
import hashlib
import json
import os
import socket
import ssl
import tempfile
import unittest

from client import WINDOW, text, until
from gpush_agent.gang import peerline
from gpush_agent.link import frames
from test_peers import LONG, GangTest

SLOW = True

# Of nothing but these tests, and good for a hundred years.
KEY = ("MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwNQwDhdErYVz/lreoFU/+nV8J7G96R044iW5on882F2hRANCAAQk"
       "zdlWGWwHHYo9Csdxcmm99OUHGPwRDIhAsqhiaktfD+0gw9h0X8UPD08BlHDygz8BwLNRE6A3y91p1NU2qQZC")
CERTIFICATE = ("MIIBdTCCARugAwIBAgIUDcYMdW8qHdQNkParmdolcHOoqnkwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIx"
               "OTAxMzFaGA8yMTI2MTAyOTE5MDEzMVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCTN2VYZbAcd"
               "ij0Kx3Fyab305QcY/BEMiECyqGJqS18P7SDD2HRfxQ8PTwGUcPKDPwHAs1EToDfL3WnU1TapBkKjUzBRMB0GA1UdDgQWBBQXcB2Q"
               "m93b2heSsnqFHtX5Vp0m1TAfBgNVHSMEGDAWgBQXcB2Qm93b2heSsnqFHtX5Vp0m1TAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49"
               "BAMCA0gAMEUCIQCG2ObQJvxKQJpfLt7saVDZWQ/GyoqpKOFBsx5Jl1F7LAIgBjISNyGrCwwo078AmeycQ7nxLZkRV0lDKrdSJjcd"
               "FLA=")
PIN = hashlib.sha256(base64.b64decode(CERTIFICATE)).hexdigest()


def pem(what, text):
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n" % (what, "\n".join(text[at:at + 64] for at in range(0, len(text), 64)), what)


class Gateway:
    """The gateway's end of a tunnel, over a stream of node 0's link."""

    def __init__(self, client, stream):
        self.client, self.stream = client, stream
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(pem("PRIVATE KEY", KEY) + pem("CERTIFICATE", CERTIFICATE))
            file.flush()
            context.load_cert_chain(file.name)
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
        self.incoming.write(stream.out[0])      # it may have said something already
        stream.sink = self.incoming.write

    def do(self, call):
        """One thing of TLS, for which bytes may have to come and go."""
        while True:
            try:
                value = call()
                self.flush()
                return value
            except ssl.SSLWantReadError:
                self.flush()
                self.client.pump(lambda: self.incoming.pending or self.stream.ended[0] or self.stream.closed is not None, LONG)
                if not self.incoming.pending:
                    raise EOFError

    def flush(self):
        self.stream.send(self.outgoing.read())

    def read(self, count):
        data = b""
        while len(data) < count:
            data += self.do(lambda: self.tls.read(count - len(data)))
        return data

    def write(self, data):
        self.do(lambda: self.tls.write(data))

    def frame(self):
        head = self.read(frames.HEADER_SIZE)
        return head[4], self.read(frames.HEADER.unpack(head)[0])

    def hello(self, incarnation="ab" * 16):
        self.write(frames.encode(frames.HELLO, 0, 0, 0, frames.pack_json(
            {"version": 2, "holder": "me@here", "incarnation": incarnation, "term": 1, "agent": "", "last": 0,
             "at": 0})))
        return self.until(frames.WELCOME)

    def until(self, wanted):
        while True:
            kind, payload = self.frame()
            if kind == wanted:
                return frames.unpack_json(payload)

    def exec(self, number, command):
        self.write(frames.encode(frames.OPEN, 0, 1, number, frames.pack_json(
            {"type": "exec", "command": command, "stdin": True, "kill_on_close": True, "credit": WINDOW})))
        return self.until(frames.OPENED)["pid"]


class TunnelTest(GangTest):
    def over_tcp(self, nodes=2, without_ssl=()):
        """Agents on one host that know each other by an address; node 0's client."""
        self.pids = [self.start(0, nodes=nodes, peers={"key": self.key, "listen": {"host": "127.0.0.1", "port": 0}})]
        self.port = self.control("status")["peers"]["port"]
        where = {"key": self.key, "node0": {"host": "127.0.0.1", "port": self.port}}
        self.pids += [self.start(node, nodes=nodes, peers=where) for node in range(1, nodes)]
        self.lined(*range(1, nodes))
        return self.attach(0)

    def tunnel(self, client, node=1, pin=PIN):
        return client.open({"type": "tunnel", "node": node, "pin": pin})

    def gateway(self, client, node=1):
        """The far end has said the word."""
        stream = self.tunnel(client, node).accepted()
        self.assertIsNone(stream.refused)
        gateway = Gateway(client, stream)
        gateway.do(gateway.tls.do_handshake)
        word = gateway.read(65)
        self.assertEqual(hashlib.sha256(word[:-1]).hexdigest(), stream.opened["expect"])
        return gateway

    def refusal(self, stream):
        refused = stream.finish(LONG)
        return refused["code"]

    def raw_end(self, line):
        """Node 0's answer to somebody who dials it with this greeting."""
        with socket.create_connection(("127.0.0.1", self.port)) as sock:
            sock.settimeout(LONG)
            sock.sendall(frames.pack_json(line) + b"\n")
            return sock.recv(1000)

    def test_a_link_through_node_0_is_a_link(self):
        client = self.over_tcp(3)
        for node in (1, 2):
            gateway = self.gateway(client, node)
            welcome = gateway.hello()
            self.assertEqual(welcome["pid"], self.control("status", node=node)["pid"])
            self.assertTrue(self.control("status", node=node)["linked"])

    def test_on_one_host_it_goes_through_the_agents_socket(self):
        self.start(0)
        self.start(1)
        self.lined(1)
        self.gateway(self.attach(0)).hello()
        self.assertTrue(self.control("status", node=1)["linked"])

    def test_a_node_whose_line_comes_late_is_waited_for(self):
        self.start(0)
        client = self.attach(0)
        stream = self.tunnel(client)
        client.call("status")
        self.assertIsNone(stream.opened)
        self.start(1)
        stream.accepted()
        self.assertIsNotNone(stream.opened)

    def test_a_node_without_a_line_is_refused(self):
        self.start(0)
        self.assertEqual(self.refusal(self.tunnel(self.attach(0))), "no-line")

    def test_another_certificate_than_the_announced_one_gets_no_word(self):
        client = self.over_tcp()
        stream = self.tunnel(client, pin="0" * 64).accepted()
        gateway = Gateway(client, stream)
        with self.assertRaises((EOFError, ssl.SSLError)):
            gateway.do(gateway.tls.do_handshake)
            gateway.read(1)
        self.assertFalse(self.control("status", node=1)["linked"])

    def test_who_does_not_know_the_key_is_no_end(self):
        client = self.over_tcp()
        os.kill(self.pids[1], 19)               # node 1 itself will not answer
        try:
            stream = self.tunnel(client)
            client.call("status")
            name = "ab" * 16
            for proof in ("", "0" * 64, peerline.proof(b"guessed", "tunnel-dials", 1, self.gang, 1, name, PIN)):
                answer = self.raw_end({"do": "tunnel", "version": 1, "node": 1, "id": name, "proof": proof})
                self.assertIn(b"no-tunnel", answer)
            self.assertEqual(self.refusal(stream), "timeout")
        finally:
            os.kill(self.pids[1], 18)
        self.lined(1)
        self.gateway(client).hello()

    def test_bad_requests(self):
        client = self.over_tcp()
        for node, pin in ((0, PIN), (2, PIN), (-1, PIN), (True, PIN), ("1", PIN), (1, "short"), (1, "G" * 64), (1, 7)):
            self.assertEqual(self.refusal(self.tunnel(client, node, pin)), "bad-request", (node, pin))
        self.assertEqual(self.refusal(self.tunnel(self.attach(1))), "no-key")

    def test_a_python_without_ssl_says_so(self):
        self.start(0)
        self.start(1, modules={"start": "import sys; sys.modules['ssl'] = None\n" + text("start.py")})
        self.lined(1)
        self.assertEqual(self.refusal(self.tunnel(self.attach(0))), "no-tls")

    def test_the_end_of_the_gateway_hangs_up_what_it_ran(self):
        """Whether it said so to node 0, or another one came."""
        for leave in (lambda client: client.raw(frames.encode(frames.BYE, 0, 0, 0, b'{"code":"gateway-stopped"}')),
                      lambda client: self.attach(0)):
            self.gang = os.urandom(8).hex()
            client = self.over_tcp()
            gateway = self.gateway(client)
            gateway.hello()
            pid = gateway.exec(1, "exec sleep 1000")
            leave(client)
            self.gone(pid)
            until(lambda: not self.control("status", node=1)["linked"], LONG, "the end of the pipe")

    def test_the_end_of_node_0_cuts_the_link_and_ends_nothing(self):
        client = self.over_tcp()
        gateway = self.gateway(client)
        gateway.hello()
        pid = gateway.exec(1, "exec sleep 1000")
        os.kill(self.pids[0], 9)
        self.gone(self.pids[0])
        until(lambda: not self.control("status", node=1)["linked"], LONG, "the cut")
        os.kill(pid, 0)
        self.assertEqual(json.dumps(self.control("status", node=1)["streams"]), "1")


if __name__ == "__main__":
    unittest.main()
