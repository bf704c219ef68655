package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether the quota behind a LocalQueue has room. It is not known where the ClusterQueue may not be
 * read, or is in a cohort, whose queues lend each other what they do not use.
 */
record KueueQuota(Namespace place, String api, String queue) {
  /** Resources of other groups do not count in this one. */
  private static final long NOT_COVERED = Long.MAX_VALUE;

  /** What a flavor lacks. */
  private record Lack(String resource, long wanted, long most, long left) {
    boolean isForGood() {
      return wanted > most;
    }
  }

  Plan plan(PodShape shape, int nodes, Plan.Now now) throws InterruptedException, Unanswered {
    Optional<Json> found = clusterQueue();
    if (found.isEmpty() || isShared(found.get().object("spec"))) {
      return new Plan.Now(now.what() + ", if the queue " + queue + " has quota");
    }
    Json.Obj spec = found.get().object("spec");
    for (Json group : spec.items("resourceGroups")) {
      Optional<Lack> lack = lack(group, found.get(), shape, nodes);
      if (lack.isPresent()) {
        return of(lack.get());
      }
    }
    long waiting = found.get().object("status").number("pendingWorkloads").orElse(0L);
    if (waiting > 0 && spec.text("queueingStrategy").orElse("").equals("StrictFIFO")) {
      String jobs = Phrase.count(waiting) + (waiting == 1 ? " waits" : " wait");
      return later("the queue " + queue + " starts jobs in their order, and " + jobs);
    }
    return spec.text("stopPolicy").orElse("None").equals("None")
        ? now
        : later("the queue " + queue + " is stopped by its administrator");
  }

  private Optional<Json> clusterQueue() throws InterruptedException, Unanswered {
    try {
      Optional<String> name =
          place.api().get(place.path(api, "localqueues")).items("items").stream()
              .filter(each -> KueueWorkload.name(each).equals(queue))
              .findFirst()
              .flatMap(each -> each.object("spec").text("clusterQueue"));
      return name.isEmpty()
          ? Optional.empty()
          : place.api().find(api + "/clusterqueues/" + name.get());
    } catch (ApiRefusal notAllowed) {
      return Optional.empty();
    }
  }

  private static boolean isShared(Json.Obj spec) {
    return spec.text("cohortName")
        .or(() -> spec.text("cohort"))
        .filter(name -> !name.isEmpty())
        .isPresent();
  }

  /** All pods of a gang get one flavor of a group; empty if one has room, the best of all else. */
  private static Optional<Lack> lack(Json group, Json found, PodShape shape, int nodes) {
    var lacks = new ArrayList<Lack>();
    for (Json flavor : group.items("flavors")) {
      Optional<Lack> lack = lack(flavor, used(found, flavor), shape, nodes);
      if (lack.isEmpty()) {
        return Optional.empty();
      }
      lacks.add(lack.get());
    }
    return lacks.stream().min(Comparator.comparing(Lack::isForGood));
  }

  private static Optional<Lack> lack(
      Json flavor, Map<String, Long> used, PodShape shape, int nodes) {
    Map<String, Long> most = amounts(flavor.items("resources"), "nominalQuota");
    return shape.wants().entrySet().stream()
        .map(
            want -> {
              long has = most.getOrDefault(want.getKey(), NOT_COVERED);
              return new Lack(
                  want.getKey(),
                  want.getValue() * nodes,
                  has,
                  has - used.getOrDefault(want.getKey(), 0L));
            })
        .filter(lack -> lack.wanted() > lack.left())
        .min(
            Comparator.comparing(Lack::isForGood)
                .reversed()
                .thenComparing(lack -> !shape.resource().equals(Optional.of(lack.resource()))));
  }

  private static Map<String, Long> used(Json found, Json flavor) {
    return found.object("status").items("flavorsReservation").stream()
        .filter(each -> each.text("name").equals(flavor.text("name")))
        .findFirst()
        .map(each -> amounts(each.items("resources"), "total"))
        .orElse(Map.of());
  }

  private static Map<String, Long> amounts(List<Json> resources, String key) {
    Json.Obj amounts = Json.object();
    for (Json each : resources) {
      amounts = amounts.with(each.text("name").orElse(""), each.text(key).orElse("0"));
    }
    return KubernetesNode.amounts(amounts);
  }

  private Plan of(Lack lack) {
    boolean isAmount =
        lack.resource().equals(KubernetesNode.CPU) || lack.resource().equals("memory");
    String of = " of " + lack.resource();
    String wanted = ", and " + lack.wanted() + " are wanted";
    String here = "the queue " + queue;
    if (lack.isForGood()) {
      return new Plan.Never(
          here + (isAmount ? " gives too little" + of : " gives " + lack.most() + of + wanted),
          List.of(place.kubectl("describe localqueue " + queue)));
    }
    return later(
        here
            + (isAmount
                ? " has too little" + of + " left"
                : " has " + lack.left() + of + " left" + wanted));
  }

  private static Plan later(String reason) {
    return new Plan.Later(reason, Optional.empty(), List.of());
  }
}
