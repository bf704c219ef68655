package dev.gpush.gateway.ssh.connection;

import dev.gpush.core.json.Json;
import dev.gpush.link.LinkStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** The listeners of one connection on its node; all end with the connection. */
public final class Listeners {
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Map<String, LinkStream> streams = new HashMap<>();
  private boolean closed;

  /** False when there are too many, or the connection has ended. */
  public boolean add(String name, LinkStream stream) {
    lock.lock();
    try {
      return !closed
          && streams.size() < ClientLimits.LISTENERS
          && streams.putIfAbsent(name, stream) == null;
    } finally {
      lock.unlock();
    }
  }

  /** Stops listening there; false when there was no such listener. */
  public boolean cancel(String name) {
    Optional<LinkStream> stream;
    lock.lock();
    try {
      stream = Optional.ofNullable(streams.remove(name));
    } finally {
      lock.unlock();
    }
    stream.ifPresent(listener -> listener.close(Json.object()));
    return stream.isPresent();
  }

  /** The stream has ended by itself. */
  public void forget(String name, LinkStream stream) {
    lock.lock();
    try {
      streams.remove(name, stream);
    } finally {
      lock.unlock();
    }
  }

  void closeAll() {
    List<LinkStream> all;
    lock.lock();
    try {
      closed = true;
      all = List.copyOf(streams.values());
      streams.clear();
    } finally {
      lock.unlock();
    }
    all.forEach(listener -> listener.close(Json.object()));
  }
}
