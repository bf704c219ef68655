package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;

/**
 * Whether Kueue itself places the pods of a queue, by a Topology. Gangs must then say how near
 * their pods should be; otherwise they must not, or they would never be admitted.
 */
record KueueTopology(Namespace place, String api) {
  /** This level is a single node, which a gang of several nodes cannot share. */
  private static final String HOST = "kubernetes.io/hostname";

  /** The label of the part to share; empty also if it may not be read. */
  Optional<String> label(Json localQueue) throws InterruptedException, Unanswered {
    try {
      String queue = localQueue.object("spec").text("clusterQueue").orElse("");
      Json.Obj spec = get("clusterqueues", queue).object("spec");
      for (Json group : spec.items("resourceGroups")) {
        for (Json flavor : group.items("flavors")) {
          Optional<String> topology =
              get("resourceflavors", flavor.text("name").orElse(""))
                  .object("spec")
                  .text("topologyName");
          if (topology.isPresent()) {
            return chosen(get("topologies", topology.get()));
          }
        }
      }
      return Optional.empty();
    } catch (ApiRefusal notAllowed) {
      return Optional.empty();
    }
  }

  private Json get(String kind, String name) throws InterruptedException, Unanswered, ApiRefusal {
    return place.api().get(api + "/" + kind + "/" + name);
  }

  /** The narrowest part of several hosts, of those that the configuration names if it does. */
  private Optional<String> chosen(Json topology) {
    List<String> levels =
        topology.object("spec").items("levels").stream()
            .flatMap(level -> level.text("nodeLabel").stream())
            .filter(label -> !label.equals(HOST))
            .toList();
    List<String> named =
        levels.stream().filter(place.settings().scheduling().topology()::contains).toList();
    List<String> of = named.isEmpty() ? levels : named;
    return of.isEmpty() ? Optional.empty() : Optional.of(of.getLast());
  }
}
