package dev.gpush.ssh.socket;

import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.sshd.common.Factory;
import org.apache.sshd.common.FactoryManager;
import org.apache.sshd.common.io.IoAcceptor;
import org.apache.sshd.common.io.IoConnector;
import org.apache.sshd.common.io.IoHandler;
import org.apache.sshd.common.io.IoServiceEventListener;
import org.apache.sshd.common.io.IoServiceFactory;
import org.apache.sshd.common.io.IoServiceFactoryFactory;
import org.apache.sshd.common.util.closeable.AbstractCloseable;
import org.apache.sshd.common.util.threads.CloseableExecutorService;
import org.jspecify.annotations.Nullable;

/** Makes the acceptor of an SSHD server; a server opens no connections itself. */
public final class SocketServices implements IoServiceFactoryFactory {
  /** Of a client that came through a socket file, as sshd has it for what is no TCP. */
  public static final int NO_PORT = 65_535;

  private final Tasks tasks;
  private final Clock clock;
  private final Logins logins;
  private final Optional<Path> socket;
  private final List<SocketAcceptor> made = new CopyOnWriteArrayList<>();

  /**
   * @param tasks the threads of all connections; closed by its owner
   * @param socket to listen on, whatever port the server names
   */
  public SocketServices(Tasks tasks, Clock clock, Logins logins, Optional<Path> socket) {
    this.tasks = tasks;
    this.clock = clock;
    this.logins = logins;
    this.socket = socket;
  }

  /** Listens again where the file of a socket was removed. */
  public void ensureBound() throws IOException {
    for (SocketAcceptor acceptor : made) {
      acceptor.ensureBound();
    }
  }

  /** Listens no longer, also where it would have to listen again; connections continue. */
  public void end() {
    made.forEach(SocketAcceptor::end);
  }

  @Override
  public IoServiceFactory create(FactoryManager manager) {
    return new Services();
  }

  @Override
  public void setExecutorServiceFactory(Factory<CloseableExecutorService> unused) {
    // Threads are those of the tasks.
  }

  private final class Services extends AbstractCloseable implements IoServiceFactory {
    private @Nullable IoServiceEventListener listener;

    @Override
    public IoConnector createConnector(IoHandler handler) {
      throw new UnsupportedOperationException("a server does not connect");
    }

    @Override
    public IoAcceptor createAcceptor(IoHandler handler) {
      var acceptor = new SocketAcceptor(handler, tasks, clock, logins, socket);
      made.add(acceptor);
      return acceptor;
    }

    @Override
    public @Nullable IoServiceEventListener getIoServiceEventListener() {
      return listener;
    }

    @Override
    public void setIoServiceEventListener(@Nullable IoServiceEventListener listener) {
      this.listener = listener;
    }
  }
}
