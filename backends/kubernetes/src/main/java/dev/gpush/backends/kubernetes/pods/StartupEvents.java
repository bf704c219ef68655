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
 * Pods that have their place and do not begin: a volume that cannot be mounted, a network that
 * cannot be made. The kubelet tries again for ever and says so by events alone, while GPUs are
 * held; so there is an end to it here. What goes well, however long it takes, has none: an image of
 * many gigabytes.
 */
public final class StartupEvents {
  /** The scheduler's are about a place that it has by now. */
  private static final Set<String> KUBELET = Set.of("kubelet", "attachdetach-controller");

  /** What begins sooner needs no explanation, and the question is dear to the cluster. */
  private static final Duration QUIET = Duration.ofSeconds(5);

  private final Namespace place;
  private final Map<String, Long> since = new HashMap<>();
  private Optional<Long> begun = Optional.empty();

  public StartupEvents(Namespace place) {
    this.place = place;
  }

  /**
   * What is said last of a pod that is being started.
   *
   * @param isLasting for longer than pods may take to find their places
   */
  public record Trouble(String words, boolean isLasting) {}

  /**
   * By the pod's name; nothing of those to which something good happened last. One question for all
   * of them: events are not found by a label, and each question goes through all of a namespace.
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
      Optional<String> said =
          Optional.ofNullable(last.get(pod.object("metadata").text("uid").orElse("")))
              .filter(event -> event.text("type").orElse("").equals("Warning"))
              .flatMap(event -> event.text("message"));
      if (said.isPresent()) {
        long first = since.computeIfAbsent(name, _ -> now);
        boolean isLasting = now - first > place.settings().scheduling().assembly().toNanos();
        found.put(name, new Trouble(ClusterText.clean(said.get()), isLasting));
      } else {
        since.remove(name);
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
