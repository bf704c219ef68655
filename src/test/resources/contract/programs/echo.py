"""Sends back what it is sent, to many clients at a time; prints its port first. A line in the file "ended" for each end."""
import socket
import threading


def serve(client):
    with client:
        try:
            part = client.recv(65536)
            while part:
                client.sendall(part)
                part = client.recv(65536)
        except OSError:
            pass
    with open("ended", "a") as file:
        file.write("end\n")


server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(64)
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
