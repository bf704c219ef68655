package dev.gpush.ssh.channel;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.connection.Route;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.session.ConnectionService;

/**
 * The client's own ssh agent, as a socket on the node ({@code ssh -A}). It exists before the
 * program starts, and ends with the program's channel. Only the user of the node can open it. When
 * it cannot be made, the program starts without.
 */
final class ForwardedAgent {
  private static final int RANDOM_BYTES = 16;

  private final ConnectionService service;
  private final String path;
  private final CountDownLatch answered = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private Optional<LinkStream> listener = Optional.empty();
  private boolean isThere;
  private boolean closed;

  ForwardedAgent(ConnectionService service) {
    this.service = service;
    var name = new byte[RANDOM_BYTES];
    service.getSession().getFactoryManager().getRandomFactory().create().fill(name);
    this.path = "/tmp/gpush-agent-" + HexFormat.of().formatHex(name);
  }

  /** The path for programs; empty when there is no socket. */
  Optional<String> path() {
    lock.lock();
    try {
      return isThere ? Optional.of(path) : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes the socket, and returns once it is there or cannot be made. Where the link takes no
   * stream, the program is refused for the same reason, and reports it.
   */
  void listen(Route.Node node, String client) throws InterruptedException {
    var request = Json.object("type", "listen-unix", "path", path, "client", client);
    try {
      node.link().open(request, this::listening);
    } catch (GpushException refused) {
      return;
    }
    answered.await();
  }

  private Listening listening(LinkStream stream) {
    boolean isTooLate;
    lock.lock();
    try {
      listener = Optional.of(stream);
      isTooLate = closed;
    } finally {
      lock.unlock();
    }
    if (isTooLate) {
      stream.close(Json.object());
    }
    return new Listening(stream);
  }

  /** The program's channel is closed. */
  void close() {
    Optional<LinkStream> stream;
    lock.lock();
    try {
      closed = true;
      stream = listener;
    } finally {
      lock.unlock();
    }
    stream.ifPresent(open -> open.close(Json.object()));
    answered.countDown();
  }

  private final class Listening implements StreamReceiver {
    private final LinkStream stream;

    Listening(LinkStream stream) {
      this.stream = stream;
    }

    @Override
    public void opened(Json.Obj facts) {
      lock.lock();
      try {
        isThere = true;
      } finally {
        lock.unlock();
      }
      answered.countDown();
    }

    @Override
    public void data(int channel, ByteBuffer bytes) {
      stream.consumed(bytes.remaining());
    }

    @Override
    public Optional<StreamReceiver> accepted(LinkStream connection, Json.Obj request) {
      return ReturnChannel.open(
          service, new ReturnChannel("auth-agent@openssh.com", connection, _ -> {}));
    }

    @Override
    public void closed(Json.Obj reason) {
      answered.countDown();
    }
  }
}
