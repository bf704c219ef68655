"""Says hello before its client does, then answers with how much it was sent, at its end; many clients at a time.
Prints its port first."""
import socket
import threading


def serve(client):
    with client:
        client.sendall(b"hello ")
        count = 0
        part = client.recv(65536)
        while part:
            count += len(part)
            part = client.recv(65536)
        client.sendall(b"%d" % count)


server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(512)
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
