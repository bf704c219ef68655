package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.core.json.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A node of the cluster and its free resources.
 *
 * @param isSchedulable it is ready and accepts pods
 * @param taints keys of the taints that repel pods
 * @param has of each resource, for pods that no DaemonSet makes; CPUs in thousandths
 * @param free the same without the requests of such pods
 */
public record KubernetesNode(
    String name,
    boolean isSchedulable,
    List<String> taints,
    Map<String, String> labels,
    Map<String, Long> has,
    Map<String, Long> free) {
  public static final String CPU = "cpu";

  /** More pods than any kubelet accepts on one node. */
  private static final long MOST_PLACES = 1024;

  public KubernetesNode {
    taints = List.copyOf(taints);
    labels = Map.copyOf(labels);
    has = Map.copyOf(has);
    free = Map.copyOf(free);
  }

  /**
   * @param daemons what pods of DaemonSets request: those are there whatever else the node runs
   * @param others what its other pods request
   */
  static KubernetesNode of(Json node, Map<String, Long> daemons, Map<String, Long> others) {
    Map<String, Long> has = without(daemons, amounts(node.object("status").object("allocatable")));
    Map<String, Long> free = without(others, has);
    boolean isReady =
        node.object("status").items("conditions").stream()
            .anyMatch(
                each ->
                    each.text("type").orElse("").equals("Ready")
                        && each.text("status").orElse("").equals("True"));
    return new KubernetesNode(
        node.object("metadata").text("name").orElse(""),
        isReady && !node.object("spec").flag("unschedulable"),
        node.object("spec").items("taints").stream()
            .filter(taint -> !taint.text("effect").orElse("").equals("PreferNoSchedule"))
            .flatMap(taint -> taint.text("key").stream())
            .toList(),
        node.object("metadata").object("labels").textMap(),
        has,
        free);
  }

  private static Map<String, Long> without(Map<String, Long> requested, Map<String, Long> of) {
    var left = new HashMap<>(of);
    requested.forEach((name, amount) -> left.computeIfPresent(name, (_, all) -> all - amount));
    return left;
  }

  /** The amounts in a list of resources, as nodes, pods and quotas have it. */
  public static Map<String, Long> amounts(Json resources) {
    var amounts = new HashMap<String, Long>();
    resources
        .textMap()
        .forEach(
            (name, text) ->
                (name.equals(CPU) ? Quantity.millis(text) : Quantity.whole(text))
                    .ifPresent(amount -> amounts.put(name, amount)));
    return amounts;
  }

  public long has(String resource) {
    return has.getOrDefault(resource, 0L);
  }

  public long free(String resource) {
    return free.getOrDefault(resource, 0L);
  }

  /** How many pods with these requests would fit; with {@code all}, on the empty node. */
  public long places(Map<String, Long> wants, boolean all) {
    long places = MOST_PLACES;
    for (var want : wants.entrySet()) {
      if (want.getValue() > 0) {
        long there = all ? has(want.getKey()) : free(want.getKey());
        places = Math.min(places, Math.max(0, there) / want.getValue());
      }
    }
    return places;
  }
}
