package dev.gpush.backends.kubernetes.pods;

import dev.gpush.core.gang.GangId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Remembers why pods were removed. The API server forgets that with them, within seconds; the
 * reason is recorded here when a pod ends, and reported with its successor.
 */
public final class PodHistory {

  // guarded by this
  private final Map<GangId, Map<Integer, Past>> gangs = new HashMap<>();

  private record Past(String pod, String why) {}

  public synchronized void seen(GangId gang, Pods pods) {
    for (var pod : pods.all()) {
      Optional<Integer> node = Pods.index(pod);
      Optional<String> why = PodFailure.end(pod);
      if (node.isPresent() && why.isPresent()) {
        gangs
            .computeIfAbsent(gang, _ -> new HashMap<>())
            .put(node.get(), new Past(Pods.name(pod), why.get()));
      }
    }
  }

  /**
   * Why the node's former pod ended.
   *
   * @param pod its present one
   */
  public synchronized Optional<String> why(GangId gang, int node, String pod) {
    return Optional.ofNullable(gangs.getOrDefault(gang, Map.of()).get(node))
        .filter(past -> !past.pod().equals(pod))
        .map(Past::why);
  }

  public synchronized void forget(GangId gang) {
    gangs.remove(gang);
  }
}
