package dev.gpush.ssh.socket;

import dev.gpush.core.task.AcceptLoop;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.io.IoAcceptor;
import org.apache.sshd.common.io.IoHandler;
import org.apache.sshd.common.io.IoServiceEventListener;
import org.apache.sshd.common.io.IoSession;
import org.apache.sshd.common.util.closeable.AbstractCloseable;
import org.jspecify.annotations.Nullable;

/**
 * Listens, and makes a {@link SocketSession} of every connection while {@link Logins} has room.
 * Thread-safe.
 */
final class SocketAcceptor extends AbstractCloseable implements IoAcceptor {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  /** Connections that the kernel queues: a tool may open hundreds at once. */
  private static final int BACKLOG = 1_024;

  private final IoHandler handler;
  private final Tasks tasks;
  private final Clock clock;
  private final Logins logins;
  private final Optional<Path> socket;
  private final Map<SocketAddress, ServerSocketChannel> listening = new ConcurrentHashMap<>();
  private final Map<Long, IoSession> sessions = new ConcurrentHashMap<>();

  /** Held while binding and when the end begins, so that no socket is bound after it. */
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private boolean ending;

  private volatile @Nullable IoServiceEventListener listener;

  /**
   * @param socket to listen on, whatever address the server names
   */
  SocketAcceptor(
      IoHandler handler, Tasks tasks, Clock clock, Logins logins, Optional<Path> socket) {
    this.handler = handler;
    this.tasks = tasks;
    this.clock = clock;
    this.logins = logins;
    this.socket = socket;
  }

  /** Does nothing once the end has begun. */
  @Override
  public void bind(SocketAddress named) throws IOException {
    SocketAddress address =
        socket.isPresent() ? UnixDomainSocketAddress.of(socket.orElseThrow()) : named;
    lock.lock();
    try {
      if (ending) {
        return;
      }
      ServerSocketChannel server = listen(address);
      ServerSocketChannel before = listening.put(server.getLocalAddress(), server);
      tasks.startOnThread("accept", () -> accept(server));
      if (before != null) {
        before.close();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Connections wait in the kernel until they are accepted. */
  private static ServerSocketChannel listen(SocketAddress at) throws IOException {
    ServerSocketChannel server = open(at);
    try {
      server.bind(at, BACKLOG);
      if (at instanceof UnixDomainSocketAddress file) {
        // Other users cannot enter its folder, either.
        Files.setPosixFilePermissions(file.getPath(), PosixFilePermissions.fromString("rw-------"));
      }
      return server;
    } catch (IOException failed) {
      server.close();
      throw failed;
    }
  }

  /** The file of a socket is left by a gateway that was killed; only one at a time has the home. */
  private static ServerSocketChannel open(SocketAddress at) throws IOException {
    if (at instanceof UnixDomainSocketAddress file) {
      Files.deleteIfExists(file.getPath());
      return ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    }
    return ServerSocketChannel.open();
  }

  @Override
  public void bind(Collection<? extends SocketAddress> addresses) throws IOException {
    for (SocketAddress address : addresses) {
      bind(address);
    }
  }

  void ensureBound() throws IOException {
    if (socket.isPresent() && !listening.isEmpty() && !Files.exists(socket.orElseThrow())) {
      bind(UnixDomainSocketAddress.of(socket.orElseThrow()));
    }
  }

  @Override
  public void unbind(SocketAddress address) {
    Optional.ofNullable(listening.remove(address)).ifPresent(server -> close(server, address));
  }

  /** Sessions continue. The port is free when this returns. */
  private static void close(ServerSocketChannel server, SocketAddress address) {
    try {
      server.close();
      if (address instanceof UnixDomainSocketAddress file) {
        Files.deleteIfExists(file.getPath());
      }
    } catch (IOException alreadyGone) {
      LOG.log(System.Logger.Level.DEBUG, "closing a listener failed", alreadyGone);
    }
  }

  @Override
  public void unbind(Collection<? extends SocketAddress> addresses) {
    addresses.forEach(this::unbind);
  }

  @Override
  public void unbind() {
    unbind(List.copyOf(listening.keySet()));
  }

  @Override
  public Set<SocketAddress> getBoundAddresses() {
    return Set.copyOf(listening.keySet());
  }

  @Override
  public Map<Long, IoSession> getManagedSessions() {
    return Map.copyOf(sessions);
  }

  @Override
  public @Nullable IoServiceEventListener getIoServiceEventListener() {
    return listener;
  }

  @Override
  public void setIoServiceEventListener(@Nullable IoServiceEventListener listener) {
    this.listener = listener;
  }

  /** Until the server is closed. */
  private void accept(ServerSocketChannel server) {
    var loop =
        new AcceptLoop(
            clock,
            failed ->
                LOG.log(System.Logger.Level.WARNING, "accepting an ssh connection failed", failed));
    try {
      loop.run(server::isOpen, () -> start(server));
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void start(ServerSocketChannel server) throws IOException, InterruptedException {
    logins.awaitRoom();
    SocketChannel connection = server.accept();
    try {
      if (socket.isEmpty()) {
        connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
      }
      var session = new SocketSession(this, logins, handler, connection, tasks);
      sessions.put(session.getId(), session);
      logins.begin(session, () -> session.close(true));
      session.start();
    } catch (IOException | RuntimeException | Error failed) {
      connection.close();
      throw failed;
    }
  }

  /** Called by a session that has ended. */
  void forget(SocketSession session) {
    sessions.remove(session.getId(), session);
  }

  /** Listens no longer, and is not bound again; connections continue. */
  void end() {
    lock.lock();
    try {
      ending = true;
    } finally {
      lock.unlock();
    }
    unbind();
  }

  @Override
  protected void preClose() {
    end();
    super.preClose();
  }

  @Override
  protected void doCloseImmediately() {
    sessions.values().forEach(session -> session.close(true));
    super.doCloseImmediately();
  }
}
