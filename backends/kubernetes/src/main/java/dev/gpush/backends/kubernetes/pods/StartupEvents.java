package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;

/**
 * Pods that are placed and do not start: a volume that cannot be mounted, a network that cannot be
 * made. The kubelet retries for ever and reports that only by events, while GPUs are held; so there
 * is a limit here. A start that makes progress has none, such as pulling an image of many
 * gigabytes.
 */
public final class StartupEvents {
  /** Events of the scheduler are outdated, because the pod is placed. */
  private static final Set<String> KUBELET = Set.of("kubelet", "attachdetach-controller");

  /**
   * A pod that starts sooner needs no explanation, and the request is expensive for the cluster.
   */
  private static final Duration QUIET = Duration.ofSeconds(5);

  /** By then the kubelet has tried again: one refusal may be a mistake of the registry. */
  private static final Duration REFUSED = Duration.ofSeconds(30);

  private final Namespace place;
  private final Map<String, Long> since = new HashMap<>();

  /** Of those, the first time that a registry refused its image. */
  private final Map<String, Long> refused = new HashMap<>();

  private Optional<Long> begun = Optional.empty();

  public StartupEvents(Namespace place) {
    this.place = place;
  }

  /**
   * The trouble of a pod that is being started.
   *
   * @param words of its last event; empty if only its status has them
   * @param isLasting for longer than pods may take to be placed, or a registry may refuse
   */
  public record Trouble(String words, boolean isLasting) {}

  /**
   * By the pod's name, without pods whose last event was normal and whose start has not failed. One
   * request for all of them: events have no labels, and each request reads all of a namespace.
   */
  public Map<String, Trouble> of(List<Json> starting) throws InterruptedException, Unanswered {
    long now = place.time().nanos();
    if (begun.isEmpty()) {
      begun = Optional.of(now);
    }
    if (starting.isEmpty() || now - begun.get() < QUIET.toNanos()) {
      return Map.of();
    }
    Map<String, Json> last = last();
    var found = new HashMap<String, Trouble>();
    for (Json pod : starting) {
      String name = Pods.name(pod);
      Optional<Json> event =
          Optional.ofNullable(last.get(pod.object("metadata").text("uid").orElse("")));
      Optional<String> said =
          event
              .filter(each -> each.text("type").orElse("").equals("Warning"))
              .flatMap(each -> each.text("message"));
      PodFailure.Kind kind = PodFailure.of(pod).kind();
      if (said.isPresent() || kind != PodFailure.Kind.STARTING) {
        boolean isRefused = kind == PodFailure.Kind.REFUSED;
        long first = since.computeIfAbsent(name, _ -> now);
        first = isRefused ? refused.computeIfAbsent(name, _ -> now) : first;
        // A pull that is tried again may take long.
        boolean isPulling =
            event.filter(each -> each.text("reason").orElse("").equals("Pulling")).isPresent();
        Duration limit = isRefused ? REFUSED : place.settings().scheduling().assembly();
        boolean isLasting = !isPulling && now - first > limit.toNanos();
        found.put(name, new Trouble(ClusterText.clean(said.orElse("")), isLasting));
      } else {
        since.remove(name);
        refused.remove(name);
      }
    }
    return found;
  }

  /** By the uid of the pod. */
  private Map<String, Json> last() throws InterruptedException, Unanswered {
    String pods = "?fieldSelector=" + ApiServer.encoded("involvedObject.kind=Pod");
    try {
      return place.api().get(place.path("/api/v1", "events") + pods).items("items").stream()
          .filter(event -> KUBELET.contains(event.object("source").text("component").orElse("")))
          .collect(
              Collectors.toMap(
                  event -> event.object("involvedObject").text("uid").orElse(""),
                  event -> event,
                  BinaryOperator.maxBy(
                      Comparator.comparing(event -> event.text("lastTimestamp").orElse("")))));
    } catch (ApiRefusal notAllowed) {
      return Map.of();
    }
  }
}
