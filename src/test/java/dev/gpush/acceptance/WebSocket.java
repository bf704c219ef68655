package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Optional;

/**
 * A client of RFC 6455 with as much of it as the tests need, through {@code ssh -L}; {@link
 * #SERVER} is the other end, a file ws.py of the workspace.
 */
record WebSocket(Process server, Process forward, Socket socket) implements AutoCloseable {
  static final String SERVER =
      """
      import base64, hashlib, socket, struct, sys
      server = socket.socket()
      server.bind(("127.0.0.1", int(sys.argv[1])))
      server.listen(5)
      def exactly(count):
          data = b""
          while len(data) < count:
              part = peer.recv(count - len(data))
              if not part:
                  sys.exit(0)
              data += part
          return data
      peer, _ = server.accept()
      head = b""
      while not head.endswith(b"\\r\\n\\r\\n"):
          head += exactly(1)
      key = [l.split(b": ")[1] for l in head.split(b"\\r\\n") if l.lower().startswith(b"sec-websocket-key")][0]
      sign = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
      peer.sendall(b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n"
                   b"Sec-WebSocket-Accept: " + sign + b"\\r\\n\\r\\n")
      while True:
          first, second = exactly(2)
          length = second & 127
          mask = exactly(4)
          text = bytes(b ^ mask[i % 4] for i, b in enumerate(exactly(length)))
          peer.sendall(struct.pack("BB", first, length) + text)
      """;

  static WebSocket through(World world, String folder) throws Exception {
    int here = World.freePort();
    int there = World.freePort();
    Process server =
        world.start(world.project(), world.ssh("devbox", "python3 " + folder + "/ws.py " + there));
    Process forward = world.forward(here, there);
    var open = new ArrayList<Socket>();
    World.until("a handshake", () -> shake(here).map(open::add).orElse(false));
    return new WebSocket(server, forward, open.getFirst());
  }

  private static Optional<Socket> shake(int port) {
    try {
      var socket = new Socket();
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1000);
      socket
          .getOutputStream()
          .write(
              ("GET / HTTP/1.1\r\n"
                      + "Host: here\r\n"
                      + "Upgrade: websocket\r\n"
                      + "Connection: Upgrade\r\n"
                      + "Sec-WebSocket-Version: 13\r\n"
                      + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      var head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int next = socket.getInputStream().read();
        if (next < 0) {
          socket.close();
          return Optional.empty();
        }
        head.append((char) next);
      }
      assertTrue(head.toString().contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), head::toString);
      return Optional.of(socket);
    } catch (IOException notYet) {
      return Optional.empty();
    }
  }

  void send(String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    var frame = new byte[bytes.length + 6];
    frame[0] = (byte) 0x81;
    frame[1] = (byte) (0x80 | bytes.length);
    // The mask is zero: it hides nothing from itself.
    System.arraycopy(bytes, 0, frame, 6, bytes.length);
    socket.getOutputStream().write(frame);
  }

  String receive() throws IOException {
    byte[] head = socket.getInputStream().readNBytes(2);
    assertEquals(2, head.length, "the connection has ended");
    return new String(socket.getInputStream().readNBytes(head[1]), StandardCharsets.UTF_8);
  }

  void echoes(String text) throws IOException {
    send(text);
    assertEquals(text, receive());
  }

  @Override
  public void close() throws IOException {
    socket.close();
    forward.destroy();
    server.destroy();
  }
}
