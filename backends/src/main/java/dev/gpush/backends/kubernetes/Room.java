package dev.gpush.backends.kubernetes;

import dev.gpush.backends.floor.NotTold;
import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The cluster's nodes and who has asked for what on them, as far as we may look: a person with
 * rights in one namespace alone sees neither, and then the scheduler is the one who knows.
 *
 * @param nodes empty where they may not be listed
 * @param pods that hold something; empty where those of other namespaces may not be listed
 */
record Room(Optional<List<ClusterNode>> nodes, Optional<List<Json>> pods) {
  private static final String LIVING =
      ApiServer.encoded("status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!=");

  Room {
    nodes = nodes.map(List::copyOf);
    pods = pods.map(List::copyOf);
  }

  static Room of(ApiServer api) throws InterruptedException, NotTold {
    Optional<List<Json>> nodes = listed(api, "/api/v1/nodes");
    if (nodes.isEmpty()) {
      return new Room(Optional.empty(), Optional.empty());
    }
    Optional<List<Json>> pods = listed(api, "/api/v1/pods?fieldSelector=" + LIVING);
    var requested = new HashMap<String, Map<String, Long>>();
    for (Json pod : pods.orElse(List.of())) {
      Map<String, Long> there =
          requested.computeIfAbsent(
              pod.object("spec").text("nodeName").orElse(""), _ -> new HashMap<>());
      requests(pod).forEach((name, amount) -> there.merge(name, amount, Long::sum));
    }
    return new Room(
        Optional.of(
            nodes.get().stream()
                .map(
                    node ->
                        ClusterNode.of(
                            node,
                            requested.getOrDefault(
                                node.object("metadata").text("name").orElse(""), Map.of())))
                .toList()),
        pods);
  }

  /** The nodes alone, as if nothing were on them. */
  static Optional<List<ClusterNode>> nodes(ApiServer api) throws InterruptedException, NotTold {
    return listed(api, "/api/v1/nodes")
        .map(nodes -> nodes.stream().map(node -> ClusterNode.of(node, Map.of())).toList());
  }

  private static Optional<List<Json>> listed(ApiServer api, String path)
      throws InterruptedException, NotTold {
    try {
      return Optional.of(api.get(path).items("items"));
    } catch (ApiRefusal refusal) {
      if (refusal.isForbidden()) {
        return Optional.empty();
      }
      throw new NotTold(refusal.words(), refusal);
    }
  }

  /** What a pod has asked for: its containers together, or the largest of those that run before. */
  static Map<String, Long> requests(Json pod) {
    var sum = new HashMap<String, Long>();
    Json.Obj spec = pod.object("spec");
    for (Json container : spec.items("containers")) {
      container(container).forEach((name, amount) -> sum.merge(name, amount, Long::sum));
    }
    for (Json container : spec.items("initContainers")) {
      container(container).forEach((name, amount) -> sum.merge(name, amount, Math::max));
    }
    sum.merge("pods", 1L, Long::sum);
    return sum;
  }

  private static Map<String, Long> container(Json container) {
    Json.Obj resources = container.object("resources");
    var wants = new HashMap<>(ClusterNode.amounts(resources.object("limits")));
    wants.keySet().removeIf(name -> name.equals(ClusterNode.CPU) || name.equals("memory"));
    wants.putAll(ClusterNode.amounts(resources.object("requests")));
    return wants;
  }

  /** Whose pods have some of this resource: "ml/trainer, bob's devbox". */
  List<String> holders(String resource) {
    var holders = new ArrayList<String>();
    for (Json pod : pods.orElse(List.of())) {
      if (requests(pod).getOrDefault(resource, 0L) > 0) {
        String holder = holder(pod);
        if (!holders.contains(holder)) {
          holders.add(holder);
        }
      }
    }
    return List.copyOf(holders);
  }

  private static String holder(Json pod) {
    Json.Obj metadata = pod.object("metadata");
    return Tag.of(pod)
        .map(tag -> tag.owner() + " (" + tag.session() + ")")
        .orElseGet(
            () ->
                metadata.text("namespace").orElse("")
                    + "/"
                    + metadata.items("ownerReferences").stream()
                        .findFirst()
                        .flatMap(owner -> owner.text("name"))
                        .or(() -> metadata.text("name"))
                        .orElse(""));
  }
}
