package dev.gpush.ssh.channel;

import dev.gpush.core.failure.Message;
import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.route.Connections;
import dev.gpush.ssh.route.Route;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.session.ConnectionService;

/**
 * The client's own ssh agent, as a socket on the node ({@code ssh -A}). It exists before the
 * program starts, and ends with the program's channel. Only the user of the node can open it. When
 * it cannot be made, the program starts without.
 */
final class ForwardedAgent implements Connections.Asker {
  private static final int RANDOM_BYTES = 16;

  private final ConnectionService service;
  private final Runnable start;
  private final String path;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private Optional<LinkStream> listener = Optional.empty();
  private boolean isThere;
  private boolean closed;

  /**
   * @param start called once the socket exists, or could not be made
   */
  ForwardedAgent(ConnectionService service, Runnable start) {
    this.service = service;
    this.start = start;
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

  @Override
  public Json.Obj request(Route.Node node) {
    return Json.object("type", "listen-unix", "path", path);
  }

  @Override
  public StreamReceiver receiver(LinkStream stream) {
    return new Listening(stream);
  }

  /** The program will be refused for the same reason, and reports it. */
  @Override
  public void refused(Message text) {
    start.run();
  }

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
  }

  private final class Listening implements StreamReceiver {
    private final LinkStream stream;

    Listening(LinkStream stream) {
      this.stream = stream;
    }

    @Override
    public void opened(Json.Obj facts) {
      boolean isTooLate;
      lock.lock();
      try {
        isThere = true;
        listener = Optional.of(stream);
        isTooLate = closed;
      } finally {
        lock.unlock();
      }
      if (isTooLate) {
        stream.close(Json.object());
      }
      start.run();
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
      if (path().isEmpty()) {
        start.run();
      }
    }
  }
}
