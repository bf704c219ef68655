package dev.gpush.backends.kubernetes.pods;

import dev.gpush.core.gang.GangId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Remembers why pods were removed. The API server forgets that with them, within seconds; the
 * reason is recorded here when a pod ends, and reported with its successor.
 */
public final class PodHistory {
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Map<GangId, Map<Integer, Past>> gangs = new HashMap<>();

  private record Past(String pod, String why) {}

  public void seen(GangId gang, Pods pods) {
    lock.lock();
    try {
      for (var pod : pods.all()) {
        Optional<Integer> node = Pods.index(pod);
        Optional<String> why = PodFailure.end(pod);
        if (node.isPresent() && why.isPresent()) {
          gangs
              .computeIfAbsent(gang, _ -> new HashMap<>())
              .put(node.get(), new Past(Pods.name(pod), why.get()));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Why the node's former pod ended.
   *
   * @param pod its present one
   */
  public Optional<String> why(GangId gang, int node, String pod) {
    lock.lock();
    try {
      return Optional.ofNullable(gangs.getOrDefault(gang, Map.of()).get(node))
          .filter(past -> !past.pod().equals(pod))
          .map(Past::why);
    } finally {
      lock.unlock();
    }
  }

  public void forget(GangId gang) {
    lock.lock();
    try {
      gangs.remove(gang);
    } finally {
      lock.unlock();
    }
  }
}
