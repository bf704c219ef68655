package dev.gpush.backends.kubernetes;

import dev.gpush.backends.floor.NotTold;
import dev.gpush.backends.floor.Text;
import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.core.backend.GangRequest;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What would come of a request, as far as it can be seen from outside of the scheduler. */
final class KubernetesPlan {
  private static final int MOST_HOLDERS = 8;

  private final Place place;
  private final GangRequest request;

  KubernetesPlan(Place place, GangRequest request) {
    this.place = place;
    this.request = request;
  }

  Plan plan() throws InterruptedException, NotTold {
    Room room = place.room();
    return switch (new Shaping(request, place.settings(), room).result()) {
      case Shaping.Result.Hopeless(var reason, var works) -> new Plan.Never(reason, works);
      case Shaping.Result.Fits fits -> of(fits, room);
    };
  }

  private Plan of(Shaping.Result.Fits fits, Room room) throws InterruptedException, NotTold {
    Shape shape = fits.shape();
    Optional<Plan> quota = quota(shape);
    if (quota.isPresent()) {
      return quota.get();
    }
    Optional<Long> places = fits.places();
    if (places.isPresent() && places.get() < request.nodes()) {
      return new Plan.Later(
          "there is room for " + places.get() + " of " + Text.count(request.nodes(), "node"),
          Optional.empty(),
          room.holders(shape.resource().orElse(ClusterNode.CPU)).stream()
              .limit(MOST_HOLDERS)
              .toList());
    }
    return new Plan.Now(what(shape) + (places.isEmpty() ? ", if the scheduler has room" : ""));
  }

  private String what(Shape shape) {
    String gpus =
        shape.resource().isEmpty()
            ? Text.count(request.nodes(), "CPU node")
            : request.nodes() + " × " + shape.gpus() + " " + shape.gpuModel();
    return gpus + ", " + Text.count(shape.cpus(), "CPU") + " each";
  }

  /** A namespace may have less than the cluster has. */
  Optional<Plan> quota(Shape shape) throws InterruptedException, NotTold {
    if (shape.resource().isEmpty()) {
      return Optional.empty();
    }
    String name = "requests." + shape.resource().get();
    List<Json> quotas;
    try {
      quotas = place.api().get(place.path("/api/v1", "resourcequotas")).items("items");
    } catch (ApiRefusal notAllowed) {
      return Optional.empty();
    }
    long wanted = (long) shape.gpus() * request.nodes();
    for (Json quota : quotas) {
      Map<String, Long> hard = ClusterNode.amounts(quota.object("status").object("hard"));
      Map<String, Long> used = ClusterNode.amounts(quota.object("status").object("used"));
      long most = hard.getOrDefault(name, Long.MAX_VALUE);
      String words =
          "the quota of the namespace "
              + place.namespace()
              + " gives "
              + most
              + " of "
              + shape.resource().get()
              + ", and "
              + wanted
              + " are wanted";
      if (wanted > most) {
        return Optional.of(new Plan.Never(words, List.of(place.kubectl("describe resourcequota"))));
      }
      if (wanted + used.getOrDefault(name, 0L) > most) {
        return Optional.of(
            new Plan.Later(
                words + " beside " + used.getOrDefault(name, 0L) + " in use",
                Optional.empty(),
                List.of("namespace " + place.namespace())));
      }
    }
    return Optional.empty();
  }
}
