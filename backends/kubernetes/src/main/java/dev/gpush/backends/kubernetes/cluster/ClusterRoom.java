package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The cluster's nodes and the requests on them, as far as the user may see them: a user with rights
 * in only one namespace sees neither, and then only the scheduler knows.
 *
 * @param nodes empty if they may not be listed
 * @param pods that hold resources; empty if those of other namespaces may not be listed
 */
public record ClusterRoom(Optional<List<KubernetesNode>> nodes, Optional<List<Json>> pods) {
  private static final String LIVING =
      ApiServer.encoded("status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!=");

  /** Objects in one answer: those of a large cluster at once are a load for its API server. */
  private static final int PAGE = 500;

  public ClusterRoom {
    nodes = nodes.map(List::copyOf);
    pods = pods.map(List::copyOf);
  }

  public static ClusterRoom of(ApiServer api) throws InterruptedException, Unanswered {
    Optional<List<Json>> nodes = listed(api, "/api/v1/nodes");
    if (nodes.isEmpty()) {
      return new ClusterRoom(Optional.empty(), Optional.empty());
    }
    Optional<List<Json>> pods = listed(api, "/api/v1/pods?fieldSelector=" + LIVING);
    var daemons = new HashMap<String, Map<String, Long>>();
    var others = new HashMap<String, Map<String, Long>>();
    for (Json pod : pods.orElse(List.of())) {
      Map<String, Long> there =
          (isDaemon(pod) ? daemons : others)
              .computeIfAbsent(
                  pod.object("spec").text("nodeName").orElse(""), _ -> new HashMap<>());
      requests(pod).forEach((name, amount) -> there.merge(name, amount, Long::sum));
    }
    return new ClusterRoom(
        Optional.of(
            nodes.get().stream()
                .map(
                    node -> {
                      String name = node.object("metadata").text("name").orElse("");
                      return KubernetesNode.of(
                          node,
                          daemons.getOrDefault(name, Map.of()),
                          others.getOrDefault(name, Map.of()));
                    })
                .toList()),
        pods);
  }

  private static boolean isDaemon(Json pod) {
    return pod.object("metadata").items("ownerReferences").stream()
        .anyMatch(owner -> owner.text("kind").orElse("").equals("DaemonSet"));
  }

  /** Only the nodes, as if no pods were on them. */
  public static Optional<List<KubernetesNode>> nodes(ApiServer api)
      throws InterruptedException, Unanswered {
    return listed(api, "/api/v1/nodes")
        .map(
            nodes ->
                nodes.stream().map(node -> KubernetesNode.of(node, Map.of(), Map.of())).toList());
  }

  private static Optional<List<Json>> listed(ApiServer api, String path)
      throws InterruptedException, Unanswered {
    String first = path + (path.contains("?") ? "&" : "?") + "limit=" + PAGE;
    var items = new ArrayList<Json>();
    try {
      Optional<String> next = Optional.of("");
      while (next.isPresent()) {
        Json page = api.get(first + next.get());
        items.addAll(page.items("items"));
        next =
            page.object("metadata")
                .text("continue")
                .filter(token -> !token.isEmpty())
                .map(token -> "&continue=" + ApiServer.encoded(token));
      }
      return Optional.of(items);
    } catch (ApiRefusal refusal) {
      if (refusal.isForbidden()) {
        return Optional.empty();
      }
      throw new Unanswered(refusal.words(), refusal);
    }
  }

  /**
   * The requests of a pod, as the scheduler counts them: its containers and sidecars together, or
   * an init container with the sidecars before it, whichever is more; and the overhead of its
   * runtime.
   */
  public static Map<String, Long> requests(Json pod) {
    Json.Obj spec = pod.object("spec");
    var sidecars = new HashMap<String, Long>();
    var starting = new HashMap<String, Long>();
    for (Json container : spec.items("initContainers")) {
      boolean isSidecar = container.text("restartPolicy").equals(Optional.of("Always"));
      var here = new HashMap<>(sidecars);
      container(container).forEach((name, amount) -> here.merge(name, amount, Long::sum));
      here.forEach((name, amount) -> starting.merge(name, amount, Math::max));
      if (isSidecar) {
        sidecars.putAll(here);
      }
    }
    var sum = new HashMap<>(sidecars);
    for (Json container : spec.items("containers")) {
      container(container).forEach((name, amount) -> sum.merge(name, amount, Long::sum));
    }
    starting.forEach((name, amount) -> sum.merge(name, amount, Math::max));
    KubernetesNode.amounts(spec.object("overhead"))
        .forEach((name, amount) -> sum.merge(name, amount, Long::sum));
    sum.merge("pods", 1L, Long::sum);
    return sum;
  }

  private static Map<String, Long> container(Json container) {
    Json.Obj resources = container.object("resources");
    var wants = new HashMap<>(KubernetesNode.amounts(resources.object("limits")));
    wants.keySet().removeIf(name -> name.equals(KubernetesNode.CPU) || name.equals("memory"));
    wants.putAll(KubernetesNode.amounts(resources.object("requests")));
    return wants;
  }

  /** The owners of pods with some of this resource: "ml/trainer, bob's devbox". */
  public List<String> holders(String resource) {
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
    return PodTag.of(pod)
        .map(tag -> tag.facts().requester())
        .map(of -> of.owner() + " (" + of.session() + ")")
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
