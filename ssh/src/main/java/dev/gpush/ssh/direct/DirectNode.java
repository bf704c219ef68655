package dev.gpush.ssh.direct;

import dev.gpush.core.json.Json;
import dev.gpush.core.time.Clock;
import dev.gpush.link.Link;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamClosedException;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.route.ClientName;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.session.Session;

/**
 * The node of a connection, when it is this machine: the gateway may connect to its servers itself.
 * A stream of type {@code passing} is open as long as that holds, and tells the agent who is
 * connected and what passes. It ends with the session's node, and then connections are the agent's
 * again, which says what is wrong.
 */
public final class DirectNode implements StreamReceiver {
  private static final AttributeKey<DirectNode> KEY = new AttributeKey<>();
  private static final Path NETWORK = Path.of("/proc/self/ns/net");

  private final LinkStream stream;
  private final Clock clock;
  private final AtomicLong last = new AtomicLong();
  private volatile boolean isUsable;

  private DirectNode(LinkStream stream, Clock clock) {
    this.stream = stream;
    this.clock = clock;
  }

  /** The one that was prepared, once the agent has accepted. */
  public static Optional<DirectNode> of(Session session) {
    return Optional.ofNullable(session.getAttribute(KEY)).filter(node -> node.isUsable);
  }

  /** Asks the agent, for connections that come later. Does not wait. */
  public static void prepare(Session session, Link link, Clock clock) {
    if (!link.isHere() || session.getAttribute(KEY) != null) {
      return;
    }
    Json.Obj request =
        Json.object(
            "type", "passing", "client", ClientName.of(String.valueOf(session.getClientVersion())));
    link.open(
        request,
        stream -> {
          var node = new DirectNode(stream, clock);
          session.setAttribute(KEY, node);
          session.addCloseFutureListener(_ -> stream.close(Json.object()));
          return node;
        });
  }

  /** For one connection. */
  public PassedBytes passedBytes() {
    long number = last.incrementAndGet();
    return new PassedBytes(PassedBytes.PIECE, count -> report(number, count), clock);
  }

  private void report(long connection, int count) {
    try {
      stream.message(Json.object("connection", connection, "passed", count), false);
    } catch (StreamClosedException over) {
      // The node is gone, and with it what it counts.
    }
  }

  /** In another network the same address is another server. */
  @Override
  public void opened(Json.Obj facts) {
    isUsable = facts.text("net").equals(network());
    if (!isUsable) {
      stream.close(Json.object());
    }
  }

  private static Optional<String> network() {
    try {
      return Optional.of(Files.readSymbolicLink(NETWORK).toString());
    } catch (IOException | UnsupportedOperationException unknown) {
      return Optional.empty();
    }
  }

  @Override
  public void data(int channel, ByteBuffer bytes) {
    stream.consumed(bytes.remaining());
  }

  @Override
  public void closed(Json.Obj reason) {
    isUsable = false;
  }
}
