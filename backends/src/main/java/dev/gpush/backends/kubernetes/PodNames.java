package dev.gpush.backends.kubernetes;

import dev.gpush.backends.floor.NotTold;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which pod is which node now. Many links that come up at once ask the API server once: whoever
 * comes while somebody asks takes the answer to that.
 */
final class PodNames {
  private static final Duration FRESH = Duration.ofSeconds(1);

  /** Gangs of one backend: the oldest answer goes first. */
  private static final int MOST = 64;

  private final Place place;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Map<GangId, Seen> seen = new HashMap<>();

  PodNames(Place place) {
    this.place = place;
  }

  private record Seen(Pods pods, long nanos) {}

  /** An empty object where the node has no pod. */
  Json pod(GangId gang, int node) throws InterruptedException, NotTold {
    lock.lockInterruptibly();
    try {
      Seen last = seen.get(gang);
      if (last == null || place.time().nanos() - last.nanos() > FRESH.toNanos()) {
        if (seen.size() >= MOST) {
          seen.clear();
        }
        last = new Seen(Pods.of(place, gang), place.time().nanos());
        seen.put(gang, last);
      }
      return last.pods().byNode().getOrDefault(node, Json.object());
    } finally {
      lock.unlock();
    }
  }
}
