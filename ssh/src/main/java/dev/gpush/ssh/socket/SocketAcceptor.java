package dev.gpush.ssh.socket;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.sshd.common.io.IoAcceptor;
import org.apache.sshd.common.io.IoHandler;
import org.apache.sshd.common.io.IoServiceEventListener;
import org.apache.sshd.common.io.IoSession;
import org.apache.sshd.common.util.closeable.AbstractCloseable;
import org.jspecify.annotations.Nullable;

/** Listens, and makes a {@link SocketSession} of every connection. Thread-safe. */
final class SocketAcceptor extends AbstractCloseable implements IoAcceptor {
  private final IoHandler handler;
  private final Tasks tasks;
  private final Clock clock;
  private final Logins logins;
  private final Optional<Path> socket;
  private final Map<SocketAddress, Listener> listening = new ConcurrentHashMap<>();
  private final Map<Long, IoSession> sessions = new ConcurrentHashMap<>();
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

  @Override
  public void bind(SocketAddress named) throws IOException {
    SocketAddress address =
        socket.isPresent() ? UnixDomainSocketAddress.of(socket.orElseThrow()) : named;
    Listener accepting = Listener.open(address, clock, logins, this::start);
    listening.put(accepting.address(), accepting);
    tasks.startOnThread("accept", accepting::run);
  }

  @Override
  public void bind(Collection<? extends SocketAddress> addresses) throws IOException {
    for (SocketAddress address : addresses) {
      bind(address);
    }
  }

  void ensureBound() throws IOException {
    if (socket.isPresent() && !listening.isEmpty() && !Files.exists(socket.orElseThrow())) {
      unbind();
      bind(UnixDomainSocketAddress.of(socket.orElseThrow()));
    }
  }

  @Override
  public void unbind(SocketAddress address) {
    Optional.ofNullable(listening.remove(address)).ifPresent(Listener::close);
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

  private void start(SocketChannel connection) throws IOException {
    if (socket.isEmpty()) {
      connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }
    var session = new SocketSession(this, logins, handler, connection, tasks);
    sessions.put(session.getId(), session);
    logins.begin(session, () -> session.close(true));
    session.start();
  }

  /** Called by a session that has ended. */
  void forget(SocketSession session) {
    sessions.remove(session.getId(), session);
  }

  @Override
  protected void preClose() {
    unbind();
    super.preClose();
  }

  @Override
  protected void doCloseImmediately() {
    sessions.values().forEach(session -> session.close(true));
    super.doCloseImmediately();
  }
}
