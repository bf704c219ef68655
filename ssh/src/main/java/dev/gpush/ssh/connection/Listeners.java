package dev.gpush.ssh.connection;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The listeners of one connection on its node; all end with the connection. */
public final class Listeners {

  // guarded by this
  private final Map<String, LinkStream> streams = new HashMap<>();
  private boolean closed;

  /** False when there are too many, or the connection has ended. */
  public synchronized boolean add(String name, LinkStream stream) {
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

  /** The stream has ended by itself. */
  public synchronized void forget(String name, LinkStream stream) {
    streams.remove(name, stream);
  }

  void closeAll() {
    List<LinkStream> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(streams.values());
      streams.clear();
    }
    all.forEach(listener -> listener.close(Json.object()));
  }
}
