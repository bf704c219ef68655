package dev.gpush.gateway.session;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which nodes have another agent than before, on a disk with nothing of ours: their files are gone
 * until somebody sends them again.
 */
final class Replaced {
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final TreeMap<Integer, String> agents = new TreeMap<>();
  private final TreeSet<Integer> bare = new TreeSet<>();

  /** What the agent of a node says when its link comes up. */
  void welcomed(int node, Json welcome) {
    lock.lock();
    try {
      String agent = welcome.text("agent").orElse("");
      String before = agents.getOrDefault(node, agent);
      agents.put(node, agent);
      if (!before.equals(agent) && welcome.flag("bare")) {
        bare.add(node);
      }
    } finally {
      lock.unlock();
    }
  }

  boolean has(int node) {
    return all().contains(node);
  }

  List<Integer> all() {
    lock.lock();
    try {
      return List.copyOf(bare);
    } finally {
      lock.unlock();
    }
  }

  /** All nodes have all files again. */
  void forget() {
    lock.lock();
    try {
      bare.clear();
    } finally {
      lock.unlock();
    }
  }
}
