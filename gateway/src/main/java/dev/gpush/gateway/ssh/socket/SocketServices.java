package dev.gpush.gateway.ssh.socket;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
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
  private final Tasks tasks;
  private final Clock clock;
  private final LoginLimits limits;

  /**
   * @param tasks the threads of all connections; closed by its owner
   */
  public SocketServices(Tasks tasks, Clock clock, LoginLimits limits) {
    this.tasks = tasks;
    this.clock = clock;
    this.limits = limits;
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
      return new SocketAcceptor(handler, tasks, clock, limits);
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
