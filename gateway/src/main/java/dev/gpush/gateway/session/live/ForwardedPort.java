package dev.gpush.gateway.session.live;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.AcceptLoop;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;

/**
 * One port of {@code gpush forward}: a listener on this machine's loopback. Each connection becomes
 * a stream to the agent, which connects to a port inside the node; while the link is cut,
 * connections wait.
 */
final class ForwardedPort implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("gpush.forward");

  /** As OpenSSH's listener has it. */
  private static final int WAITING_CONNECTIONS = 128;

  /** A quarter of a link's streams, so that a program that closes none leaves some to others. */
  static final int CONNECTIONS = 1_024;

  private static final int BUFFER = 64 * 1024;

  /** What ps calls its connections. */
  private static final String CLIENT = "gpush forward";

  private final ServerSocket listener;
  private final int port;
  private final Supplier<Link> link;
  private final Clock clock;
  private final Tasks tasks;
  private final Semaphore free;

  /**
   * Accepts until it is closed.
   *
   * @param listener is closed with this
   * @param port of the node
   * @param connections at once; further ones are closed
   */
  ForwardedPort(
      ServerSocket listener,
      int port,
      int connections,
      Supplier<Link> link,
      Clock clock,
      Tasks tasks) {
    this.listener = listener;
    this.port = port;
    this.free = new Semaphore(connections);
    this.link = link;
    this.clock = clock;
    this.tasks = tasks.group("forward-" + listener.getLocalPort());
    this.tasks.start("accept", this::accept);
  }

  /**
   * Listens on this machine's loopback.
   *
   * @param local 0: any free port
   * @throws IOException the port is taken, or may not be used
   */
  static ServerSocket bind(int local) throws IOException {
    return new ServerSocket(local, WAITING_CONNECTIONS, InetAddress.ofLiteral("127.0.0.1"));
  }

  int local() {
    return listener.getLocalPort();
  }

  private void accept() throws InterruptedException {
    new AcceptLoop(clock, failed -> LOG.log(System.Logger.Level.WARNING, "no connection", failed))
        .run(() -> !listener.isClosed(), () -> admit(listener.accept()));
  }

  private void admit(Socket client) throws IOException {
    if (!free.tryAcquire()) {
      client.close();
      return;
    }
    boolean isServed = false;
    try {
      isServed = tasks.start("connection", () -> serve(client));
    } finally {
      if (!isServed) {
        free.release();
        client.close();
      }
    }
  }

  private void serve(Socket client) throws InterruptedException {
    try {
      relay(client);
    } finally {
      free.release();
    }
  }

  private void relay(Socket client) throws InterruptedException {
    try (client;
        Tasks pumps = tasks.group("up");
        BlockingStream stream =
            link.get()
                .openReady(
                    Json.object(
                        "type", "tcp", "host", "127.0.0.1", "port", port, "client", CLIENT))) {
      client.setTcpNoDelay(true);
      pumps.start("up", () -> up(client, stream));
      copy(stream.output(0), client.getOutputStream());
      client.shutdownOutput();
      stream.awaitClose();
    } catch (IOException | GpushException ended) {
      // Nothing listens on the node's port, the node is gone, or one end broke off: the client
      // reads it from its closed connection, as with ssh -L.
    }
  }

  private static void up(Socket client, BlockingStream stream) {
    try (OutputStream toNode = stream.input()) {
      copy(client.getInputStream(), toNode);
    } catch (IOException broken) {
      stream.close();
    }
  }

  private static void copy(InputStream from, OutputStream to) throws IOException {
    var buffer = new byte[BUFFER];
    for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
      to.write(buffer, 0, count);
    }
  }

  /** Ends the listener and its connections. */
  @Override
  public void close() {
    try {
      listener.close();
    } catch (IOException closed) {
      // It accepts no more connections in any case.
    }
    tasks.close();
  }
}
