package dev.gpush.backends.kubernetes.pods;

import dev.gpush.core.gang.GangId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What took pods away that are not there any more. The API server forgets it with them, within
 * seconds; whoever sees a pod end remembers it here for whoever meets its successor.
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
   * What became of the pod that a node was last.
   *
   * @param pod the one that it is now
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
