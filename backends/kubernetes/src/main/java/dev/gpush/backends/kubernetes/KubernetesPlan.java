package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.gangs.GangSystems;
import dev.gpush.backends.kubernetes.objects.PodShaping;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Phrase;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Predicts the result of a request, as far as that is possible outside of the scheduler. */
final class KubernetesPlan {
  private static final int MOST_HOLDERS = 8;

  private final Namespace place;
  private final GangRequest request;

  KubernetesPlan(Namespace place, GangRequest request) {
    this.place = place;
    this.request = request;
  }

  Plan plan() throws InterruptedException, Unanswered {
    ClusterRoom room = place.room();
    return switch (new PodShaping(request, place.settings(), room).result()) {
      case PodShaping.Result.Hopeless(var reason, var works) -> new Plan.Never(reason, works);
      case PodShaping.Result.Fits fits -> of(fits, room);
    };
  }

  private Plan of(PodShaping.Result.Fits fits, ClusterRoom room)
      throws InterruptedException, Unanswered {
    PodShape shape = fits.shape();
    Optional<Plan> refused = new ClaimCheck(place, request).plan();
    if (refused.isPresent()) {
      return refused.get();
    }
    Optional<Plan> quota = quota(shape);
    if (quota.isPresent()) {
      return quota.get();
    }
    Optional<Long> places = fits.places();
    if (places.isPresent() && places.get() < request.nodes()) {
      return new Plan.Later(
          "there is room for " + places.get() + " of " + Phrase.counted(request.nodes(), "node"),
          Optional.empty(),
          room.holders(shape.resource().orElse(KubernetesNode.CPU)).stream()
              .limit(MOST_HOLDERS)
              .toList());
    }
    var now = new Plan.Now(what(shape) + (places.isEmpty() ? ", if the scheduler has room" : ""));
    return GangSystems.of(place).system().plan(place, shape, request.nodes(), now);
  }

  private String what(PodShape shape) {
    String gpus =
        shape.resource().isEmpty()
            ? Phrase.counted(request.nodes(), "CPU node")
            : request.nodes() + " × " + shape.gpus() + " " + shape.gpuModel();
    return gpus + ", " + Phrase.counted(shape.cpus(), "CPU") + " each";
  }

  /**
   * The quota of the namespace may allow less than the cluster has. Whether one with scopes counts
   * these pods is the cluster's decision: its refusal shows it then.
   */
  Optional<Plan> quota(PodShape shape) throws InterruptedException, Unanswered {
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
      Json.Obj spec = quota.object("spec");
      if (!spec.texts("scopes").isEmpty() || spec.get("scopeSelector").isPresent()) {
        continue;
      }
      Map<String, Long> hard = KubernetesNode.amounts(quota.object("status").object("hard"));
      Map<String, Long> used = KubernetesNode.amounts(quota.object("status").object("used"));
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

  /** Even a quota that is too small may be changed back while a request waits. */
  static String reason(Plan plan) {
    return switch (plan) {
      case Plan.Never(var reason, _) -> reason;
      case Plan.Later(var reason, _, _) -> reason;
      case Plan.Now(var what) -> what;
    };
  }
}
