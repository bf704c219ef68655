package dev.gpush.gateway.ssh.socket;

import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
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
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  /** Connections that wait to be accepted: an editor opens a few at once. */
  private static final int BACKLOG = 128;

  /** No descriptor is free: asking again at once would only burn a core. */
  private static final Duration REST = Duration.ofMillis(100);

  private final IoHandler handler;
  private final Tasks tasks;
  private final Map<SocketAddress, ServerSocketChannel> listening = new ConcurrentHashMap<>();
  private final Map<Long, IoSession> sessions = new ConcurrentHashMap<>();
  private volatile @Nullable IoServiceEventListener listener;

  SocketAcceptor(IoHandler handler, Tasks tasks) {
    this.handler = handler;
    this.tasks = tasks;
  }

  @Override
  public void bind(SocketAddress address) throws IOException {
    ServerSocketChannel channel = ServerSocketChannel.open();
    boolean isBound = false;
    try {
      channel.bind(address, BACKLOG);
      isBound = true;
    } finally {
      if (!isBound) {
        channel.close();
      }
    }
    listening.put(channel.getLocalAddress(), channel);
    tasks.start("accept", () -> accept(channel));
  }

  @Override
  public void bind(Collection<? extends SocketAddress> addresses) throws IOException {
    for (SocketAddress address : addresses) {
      bind(address);
    }
  }

  @Override
  public void unbind(SocketAddress address) {
    ServerSocketChannel channel = listening.remove(address);
    if (channel != null) {
      close(channel);
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

  private void accept(ServerSocketChannel from) {
    while (from.isOpen()) {
      try {
        admit(from.accept());
      } catch (IOException failed) {
        if (from.isOpen()) {
          LOG.log(System.Logger.Level.WARNING, "accepting an ssh connection failed", failed);
          rest();
        }
      }
    }
  }

  private static void rest() {
    try {
      Thread.sleep(REST);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void admit(SocketChannel connection) throws IOException {
    boolean isServed = false;
    try {
      connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
      var session = new SocketSession(this, handler, connection, tasks);
      sessions.put(session.getId(), session);
      session.start();
      isServed = true;
    } finally {
      if (!isServed) {
        connection.close();
      }
    }
  }

  /** Told by a session that it is over. */
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

  private static void close(ServerSocketChannel channel) {
    try {
      channel.close();
    } catch (IOException alreadyGone) {
      LOG.log(System.Logger.Level.DEBUG, "closing a listener failed", alreadyGone);
    }
  }
}
