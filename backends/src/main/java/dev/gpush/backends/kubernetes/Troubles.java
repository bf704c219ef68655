package dev.gpush.backends.kubernetes;

import dev.gpush.backends.floor.NotTold;
import dev.gpush.backends.floor.Text;
import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.core.json.Json;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Pods that have their place and do not begin: a volume that cannot be mounted, a network that
 * cannot be made. The kubelet tries again for ever and says so by events alone, while GPUs are
 * held; so there is an end to it here. What goes well, however long it takes, has none: an image of
 * many gigabytes.
 */
final class Troubles {
  /** The scheduler's are about a place that it has by now. */
  private static final Set<String> KUBELET = Set.of("kubelet", "attachdetach-controller");

  private final Place place;
  private final Map<String, Long> since = new HashMap<>();

  Troubles(Place place) {
    this.place = place;
  }

  /**
   * What is said last of a pod that is being started.
   *
   * @param isLasting for longer than pods may take to find their places
   */
  record Trouble(String words, boolean isLasting) {}

  /** Empty as long as the last that happened to it was good. */
  Optional<Trouble> of(Json pod) throws InterruptedException, NotTold {
    String name = Pods.name(pod);
    Optional<String> said = last(pod);
    if (said.isEmpty()) {
      since.remove(name);
      return Optional.empty();
    }
    long now = place.time().nanos();
    long begun = since.computeIfAbsent(name, _ -> now);
    return Optional.of(
        new Trouble(said.get(), now - begun > place.settings().assembly().toNanos()));
  }

  private Optional<String> last(Json pod) throws InterruptedException, NotTold {
    String uid = pod.object("metadata").text("uid").orElse("");
    try {
      return place
          .api()
          .get(
              place.path("/api/v1", "events")
                  + "?fieldSelector="
                  + ApiServer.encoded("involvedObject.uid=" + uid))
          .items("items")
          .stream()
          .filter(event -> KUBELET.contains(event.object("source").text("component").orElse("")))
          .max(Comparator.comparing(event -> event.text("lastTimestamp").orElse("")))
          .filter(event -> event.text("type").orElse("").equals("Warning"))
          .flatMap(event -> event.text("message"))
          .map(Text::clean);
    } catch (ApiRefusal notAllowed) {
      return Optional.empty();
    }
  }
}
