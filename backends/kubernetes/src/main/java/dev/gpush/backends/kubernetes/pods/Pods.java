package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The pods of one gang as they are now.
 *
 * @param all also those that end or have ended
 */
public record Pods(List<Json> all) {
  private static final Set<PodFailure.Kind> STARTING =
      Set.of(PodFailure.Kind.STARTING, PodFailure.Kind.RETRIED, PodFailure.Kind.REFUSED);

  private static final String INDEX = "batch.kubernetes.io/job-completion-index";

  public Pods {
    all = List.copyOf(all);
  }

  public static Pods of(Namespace place, GangId gang) throws InterruptedException, Unanswered {
    try {
      return new Pods(place.list("/api/v1", "pods", PodTag.selector(gang)));
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("list pods", refusal);
    }
  }

  /** The pod that each node is, if there is one; of an ending pod and its successor, the latter. */
  public Map<Integer, Json> byNode() {
    var nodes = new TreeMap<Integer, Json>();
    for (Json pod : all) {
      index(pod)
          .ifPresent(
              node ->
                  nodes.merge(node, pod, (one, other) -> rank(other) > rank(one) ? other : one));
    }
    return nodes;
  }

  /** The same for only these nodes. */
  public Map<Integer, Json> byNode(Collection<Integer> nodes) {
    var some = new TreeMap<>(byNode());
    some.keySet().retainAll(nodes);
    return some;
  }

  /** The order of several pods with one number: running, then ending, then ended. */
  private static int rank(Json pod) {
    return hasEnded(pod) ? 0 : isEnding(pod) ? 1 : 2;
  }

  static Optional<Integer> index(Json pod) {
    Json.Obj metadata = pod.object("metadata");
    return metadata
        .object("annotations")
        .text(INDEX)
        .or(() -> metadata.object("labels").text(INDEX))
        .filter(digits -> digits.matches("[0-9]{1,4}"))
        .map(Integer::valueOf);
  }

  public static String name(Json pod) {
    return pod.object("metadata").text("name").orElse("");
  }

  static String phase(Json pod) {
    return pod.object("status").text("phase").orElse("");
  }

  static boolean hasEnded(Json pod) {
    return phase(pod).equals("Succeeded") || phase(pod).equals("Failed");
  }

  public static boolean isEnding(Json pod) {
    return pod.object("metadata").text("deletionTimestamp").isPresent();
  }

  static boolean isPlaced(Json pod) {
    return pod.object("spec").text("nodeName").isPresent();
  }

  /** Its container runs, so that commands can be run in it. */
  public static boolean isRunning(Json pod) {
    return !isEnding(pod)
        && phase(pod).equals("Running")
        && container(pod).object("state").get("running").isPresent();
  }

  /** The kubelet's status of the agent's container; an empty object before there is one. */
  static Json.Obj container(Json pod) {
    return pod.object("status").items("containerStatuses").stream()
        .filter(each -> each.text("name").orElse("").equals(AttachedPods.container(pod)))
        .findFirst()
        .map(each -> new Json.Obj(each.entries()))
        .orElse(Json.object());
  }

  /** Those that hold or will hold resources. */
  public List<Json> living() {
    return all.stream().filter(pod -> !hasEnded(pod)).toList();
  }

  /** How many are or were on a node. */
  public long placed() {
    return byNode().values().stream().filter(pod -> !isEnding(pod) && isPlaced(pod)).count();
  }

  /** Whether the scheduler has said why it cannot place one. */
  public boolean isRefused() {
    return living().stream().anyMatch(pod -> !isPlaced(pod) && PodFailure.isRefused(pod));
  }

  /** Why one is not placed: the scheduler's reason, if it has given one. */
  public Optional<String> unplaced() {
    return living().stream()
        .filter(pod -> !isPlaced(pod))
        .min(Comparator.comparing(pod -> !PodFailure.isRefused(pod)))
        .map(pod -> PodFailure.of(pod).words());
  }

  /** Those that are placed and do not run yet. */
  public List<Json> starting() {
    return byNode().values().stream()
        .filter(pod -> !isRunning(pod) && STARTING.contains(PodFailure.of(pod).kind()))
        .toList();
  }

  public boolean allRun(int nodes) {
    return byNode().values().stream().filter(Pods::isRunning).count() == nodes;
  }
}
