package dev.gpush.backends.transport;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** One shared connection: the socket of the ssh that holds it, and how many commands go over it. */
final class Master {
  private final Path socket;
  private final Object lock = new Object();
  // guarded by lock: commands that have not been closed
  private int used;

  Master(Path socket) {
    this.socket = socket;
  }

  Path socket() {
    return socket;
  }

  /** Whether an ssh listens there. Whether the network still leads anywhere, only silence tells. */
  boolean isAlive() {
    if (!Files.exists(socket)) {
      return false;
    }
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException nobody) {
      return false;
    }
  }

  /** Room for one more command, if there is. */
  boolean take(int most) {
    synchronized (lock) {
      if (used >= most) {
        return false;
      }
      used++;
      return true;
    }
  }

  void giveBack() {
    synchronized (lock) {
      used--;
    }
  }

  /** What an ssh that was killed has left would keep the next from listening. */
  void clear() throws IOException {
    Files.deleteIfExists(socket);
  }
}
