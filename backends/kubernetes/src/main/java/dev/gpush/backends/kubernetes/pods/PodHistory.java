package dev.gpush.backends.kubernetes.pods;

import dev.gpush.core.gang.GangId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What took pods away that are not there any more. The API server forgets it with them, within
 * seconds; whoever sees a pod end remembers it here for whoever meets its successor.
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
   * What became of the pod that a node was last.
   *
   * @param pod the one that it is now
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
