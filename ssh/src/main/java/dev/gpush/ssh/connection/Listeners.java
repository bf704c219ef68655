package dev.gpush.ssh.connection;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The listeners of one connection on its node; all end with the connection. */
public final class Listeners {

  // guarded by this
  private final Map<String, LinkStream> streams = new HashMap<>();
  private final Set<LinkStream> asked = new HashSet<>();
  private boolean closed;

  /**
   * The node is asked to listen; {@link #add} or {@link #forget} has its answer. False when the
   * connection has ended.
   */
  public synchronized boolean asks(LinkStream stream) {
    return !closed && asked.add(stream);
  }

  /** It listens there. False when there are too many, or the connection has ended. */
  public synchronized boolean add(String name, LinkStream stream) {
    asked.remove(stream);
    return !closed
        && streams.size() < ClientLimits.LISTENERS
        && streams.putIfAbsent(name, stream) == null;
  }

  /** Stops listening there; false when there was no such listener. */
  public boolean cancel(String name) {
    Optional<LinkStream> stream;
    synchronized (this) {
      stream = Optional.ofNullable(streams.remove(name));
    }
    stream.ifPresent(listener -> listener.close(Json.object()));
    return stream.isPresent();
  }

  /** The stream has ended. True when it listened, and neither the client nor its end ended it. */
  public synchronized boolean forget(String name, LinkStream stream) {
    asked.remove(stream);
    return streams.remove(name, stream);
  }

  void closeAll() {
    var all = new ArrayList<LinkStream>();
    synchronized (this) {
      closed = true;
      all.addAll(streams.values());
      all.addAll(asked);
      streams.clear();
      asked.clear();
    }
    all.forEach(listener -> listener.close(Json.object()));
  }
}
