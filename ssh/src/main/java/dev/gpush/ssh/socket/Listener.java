package dev.gpush.ssh.socket;

import dev.gpush.core.task.AcceptLoop;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A listening socket, and the thread that accepts its connections while {@link Logins} has room.
 */
final class Listener {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  /** Connections that the kernel queues: a tool may open hundreds at once. */
  private static final int BACKLOG = 1_024;

  private final ServerSocketChannel server;
  private final SocketAddress address;
  private final Clock clock;
  private final Logins logins;
  private final Sessions sessions;

  /** Starts the session of a connection. */
  @FunctionalInterface
  interface Sessions {
    void start(SocketChannel connection) throws IOException;
  }

  private Listener(ServerSocketChannel server, Clock clock, Logins logins, Sessions sessions)
      throws IOException {
    this.server = server;
    this.address = server.getLocalAddress();
    this.clock = clock;
    this.logins = logins;
    this.sessions = sessions;
  }

  /** Listens; connections wait in the kernel until {@link #run}. */
  static Listener open(SocketAddress at, Clock clock, Logins logins, Sessions sessions)
      throws IOException {
    ServerSocketChannel server = open(at);
    try {
      server.bind(at, BACKLOG);
      if (at instanceof UnixDomainSocketAddress socket) {
        // Its folder lets nobody else in, either.
        Files.setPosixFilePermissions(
            socket.getPath(), PosixFilePermissions.fromString("rw-------"));
      }
      return new Listener(server, clock, logins, sessions);
    } catch (IOException failed) {
      server.close();
      throw failed;
    }
  }

  /** The file of a socket is left by a gateway that was killed; only one at a time has the home. */
  private static ServerSocketChannel open(SocketAddress at) throws IOException {
    if (at instanceof UnixDomainSocketAddress socket) {
      Files.deleteIfExists(socket.getPath());
      return ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    }
    return ServerSocketChannel.open();
  }

  SocketAddress address() {
    return address;
  }

  /** Accepts until it is closed. */
  void run() {
    var loop =
        new AcceptLoop(
            clock,
            failed ->
                LOG.log(System.Logger.Level.WARNING, "accepting an ssh connection failed", failed));
    try {
      loop.run(server::isOpen, this::accept);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void accept() throws IOException, InterruptedException {
    logins.awaitRoom();
    SocketChannel connection = server.accept();
    try {
      sessions.start(connection);
    } catch (IOException failed) {
      connection.close();
      throw failed;
    }
  }

  /** Ends listening; sessions continue. The port is free when this returns. */
  void close() {
    try {
      server.close();
      if (address instanceof UnixDomainSocketAddress socket) {
        Files.deleteIfExists(socket.getPath());
      }
    } catch (IOException alreadyGone) {
      LOG.log(System.Logger.Level.DEBUG, "closing a listener failed", alreadyGone);
    }
  }
}
