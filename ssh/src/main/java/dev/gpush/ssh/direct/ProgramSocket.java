package dev.gpush.ssh.direct;

import dev.gpush.core.json.Json;
import dev.gpush.link.Link;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Optional;
import org.apache.sshd.common.session.Session;

/**
 * A socket to an agent on this machine, which gives it to the program of a stream, so that the
 * program's bytes pass neither the link nor the agent. The OPEN of the stream names it.
 *
 * @param socket connected; does not block
 */
public record ProgramSocket(SocketChannel socket, String id) {
  private static final int RANDOM_BYTES = 16;

  /** None when the agent is elsewhere, or cannot be reached beside the link. */
  public static Optional<ProgramSocket> connect(Session session, Link link) {
    return link.agentSocket().flatMap(path -> connect(session, path));
  }

  private static Optional<ProgramSocket> connect(Session session, Path path) {
    var name = new byte[RANDOM_BYTES];
    session.getFactoryManager().getRandomFactory().create().fill(name);
    String id = HexFormat.of().formatHex(name);
    try {
      SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        socket.connect(UnixDomainSocketAddress.of(path));
        String line = Json.object("do", "carry", "id", id).write() + "\n";
        socket.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
        socket.configureBlocking(false);
        return Optional.of(new ProgramSocket(socket, id));
      } catch (IOException broken) {
        socket.close();
        return Optional.empty();
      }
    } catch (IOException noSocket) {
      return Optional.empty();
    }
  }

  public void close() {
    try {
      socket.close();
    } catch (IOException gone) {
      // It is closed in any case.
    }
  }
}
