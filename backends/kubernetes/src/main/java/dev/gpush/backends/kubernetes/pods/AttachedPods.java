package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.GpuKind;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Pods of other owners, found by the name of what made them: {@code job/train}. Controllers put
 * their own name on their pods.
 */
public final class AttachedPods {
  /** The label on the pods of each kind of controller. */
  private static final Map<String, String> LABELS =
      new TreeMap<>(
          Map.of(
              "job", "batch.kubernetes.io/job-name",
              "jobset", "jobset.sigs.k8s.io/jobset-name",
              "trainjob", "jobset.sigs.k8s.io/jobset-name",
              "pytorchjob", "training.kubeflow.org/job-name",
              "mpijob", "training.kubeflow.org/job-name",
              "raycluster", "ray.io/cluster",
              "leaderworkerset", "leaderworkerset.sigs.k8s.io/name"));

  /** Kinds whose objects have a selector for their pods. */
  private static final Map<String, String> SELECTING =
      new TreeMap<>(Map.of("deployment", "deployments", "statefulset", "statefulsets"));

  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");
  private static final Pattern LABEL = Pattern.compile("[A-Za-z0-9./_-]+=[A-Za-z0-9._-]*");
  private static final Pattern DIGITS = Pattern.compile("[0-9]+");

  /** The annotation with a pod's default container, which kubectl uses too. */
  private static final String DEFAULT = "kubectl.kubernetes.io/default-container";

  private final Namespace place;
  private final String name;

  private AttachedPods(Namespace place, String name) {
    this.place = place;
    this.name = name;
  }

  /**
   * All pods under this name, in the order of their numbers; all of them run.
   *
   * @throws GpushException with {@code NeverFits} when they do not, or there are none
   */
  static List<Json> pods(Namespace place, String name) throws InterruptedException, Unanswered {
    return new AttachedPods(place, name).pods();
  }

  private List<Json> pods() throws InterruptedException, Unanswered {
    List<Json> pods =
        found().stream()
            .filter(pod -> !Pods.hasEnded(pod) && !Pods.isEnding(pod))
            .sorted(Comparator.comparing(AttachedPods::ordered))
            .toList();
    if (pods.isEmpty()) {
      throw never("there is no pod of " + name + " in " + place.namespace(), "get pods");
    }
    if (pods.size() > GangRequest.MAX_NODES) {
      throw never(
          name + " has " + pods.size() + " pods, more than " + GangRequest.MAX_NODES, "get pods");
    }
    for (Json pod : pods) {
      if (PodTag.of(pod).isPresent()) {
        throw never(Pods.name(pod) + " is gpush's own: gpush up or gpush adopt", "get pods");
      }
      if (!Pods.isRunning(pod)) {
        throw never(
            Pods.name(pod) + " does not run: " + PodFailure.of(pod).words(),
            "describe pod " + Pods.name(pod));
      }
    }
    return pods;
  }

  private List<Json> found() throws InterruptedException, Unanswered {
    try {
      if (LABEL.matcher(name).matches()) {
        return place.list("/api/v1", "pods", name);
      }
      int slash = name.indexOf('/');
      String kind = slash < 0 ? "pod" : name.substring(0, slash).toLowerCase(Locale.ROOT);
      String object = name.substring(slash + 1);
      if (NAME.matcher(object).matches()) {
        if (kind.equals("pod")) {
          return place.api().find(place.path("/api/v1", "pods", object)).stream().toList();
        }
        if (LABELS.containsKey(kind)) {
          return place.list("/api/v1", "pods", LABELS.get(kind) + "=" + object);
        }
        if (SELECTING.containsKey(kind)) {
          return selected(SELECTING.get(kind), object);
        }
      }
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("look for " + ClusterText.clean(name), refusal);
    }
    var kinds = new ArrayList<>(LABELS.keySet());
    kinds.addAll(SELECTING.keySet());
    throw never(
        ClusterText.clean(name)
            + " is not a name of pods; use pod/NAME, LABEL=VALUE, and NAME after "
            + String.join("/, ", kinds)
            + "/",
        "get pods --show-labels");
  }

  private List<Json> selected(String kind, String object)
      throws InterruptedException, Unanswered, ApiRefusal {
    Optional<Json> owner = place.api().find(place.path("/apis/apps/v1", kind, object));
    Map<String, String> labels =
        owner
            .map(each -> each.object("spec").object("selector").object("matchLabels").textMap())
            .orElse(Map.of());
    if (labels.isEmpty()) {
      return List.of();
    }
    return place.list(
        "/api/v1",
        "pods",
        labels.entrySet().stream()
            .map(each -> each.getKey() + "=" + each.getValue())
            .collect(Collectors.joining(",")));
  }

  /** The names contain the number: {@code train-2-x9k} before {@code train-10-b5c}. */
  private static String ordered(Json pod) {
    return DIGITS
        .matcher(Pods.name(pod))
        .replaceAll(digits -> "0".repeat(Math.max(0, 12 - digits.group().length())) + "$0");
  }

  private GpushException never(String reason, String command) {
    return new GpushException(
        new BackendFailure.NeverFits(place.name(), reason, List.of(place.kubectl(command))));
  }

  /** The default container of a pod; gpush's own if there is one. */
  public static String container(Json pod) {
    List<String> names =
        pod.object("spec").items("containers").stream()
            .flatMap(each -> each.text("name").stream())
            .toList();
    return Optional.of(GangObjects.CONTAINER)
        .filter(names::contains)
        .or(
            () ->
                pod.object("metadata").object("annotations").text(DEFAULT).filter(names::contains))
        .or(() -> names.stream().findFirst())
        .orElse(GangObjects.CONTAINER);
  }

  /** The GPUs of the container; empty, too, for more than a node can have. */
  static Optional<GpuRequest> gpus(Json pod) {
    String container = container(pod);
    return pod.object("spec").items("containers").stream()
        .filter(each -> each.text("name").orElse("").equals(container))
        .map(each -> KubernetesNode.amounts(each.object("resources").object("limits")))
        .flatMap(limits -> GpuKind.counted(limits).stream())
        .findFirst()
        .flatMap(each -> GpuRequest.any((int) Math.min(each.getValue(), Integer.MAX_VALUE)));
  }
}
