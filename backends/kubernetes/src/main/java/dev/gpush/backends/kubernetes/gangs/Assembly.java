package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.kubernetes.objects.PodShaping;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Places all pods of a gang or none, if the scheduler knows no gangs: only one gang of a namespace
 * is placed at a time, only when there is room for all of it, and its pods are deleted when they
 * were not all placed in time. While it waits its Job is suspended: it has no pods and holds
 * nothing.
 *
 * <p>A Lease of the namespace ensures that only one is placed. The Job that is being placed owns
 * it, so it ends with the Job even after a crash. Without the right to Leases two gangs may block
 * each other, and each deletes its pods after a different time.
 *
 * <p>Each step starts from the objects in the cluster, so another gateway can continue after a
 * crash.
 */
public final class Assembly {
  private static final String LEASES = "/apis/coordination.k8s.io/v1";
  private static final String LEASE = "gpush-assembly";

  /** A holder that has not renewed it for this time is considered dead. */
  private static final Duration LEASE_TIME = Duration.ofSeconds(15);

  private static final Duration RENEWED = Duration.ofSeconds(5);

  /** The pause before the first new attempt; it grows, and differs between gangs. */
  private static final Duration RETRY = Duration.ofSeconds(5);

  private static final Duration MOST_RETRY = Duration.ofMinutes(2);

  /** The length of a name that no other attempt has. */
  private static final int HOLDER_BYTES = 8;

  private final Namespace place;
  private final RandomGenerator random;
  private final String holder;

  private Optional<Long> begun = Optional.empty();
  private Optional<Long> renewed = Optional.empty();
  private Optional<Seen> other = Optional.empty();
  private boolean isFirst = true;
  private long notBefore;
  private Duration retry = RETRY;
  private String failed = "";

  public Assembly(Namespace place, RandomGenerator random, GangId gang) {
    this.place = place;
    this.random = random;
    var id = new byte[HOLDER_BYTES];
    random.nextBytes(id);
    this.holder = gang.text() + "/" + HexFormat.of().formatHex(id);
    this.notBefore = place.time().nanos();
  }

  /** The Lease of another holder, and since when it has not changed. */
  private record Seen(String version, long since) {}

  /** The result of a step: placed, or a reason to show. */
  public sealed interface Step {
    record Placed() implements Step {}

    record Waits(String words) implements Step {}
  }

  /**
   * Does the next step.
   *
   * @param room the request's needs, and the nodes for it
   * @param rest between two attempts
   */
  public Step step(Json job, Pods pods, PodShaping.Result room, int nodes, Duration rest)
      throws InterruptedException, Unanswered {
    if (isFirst && Jobs.start(job).isPresent()) {
      // Another gateway may have taken it back just now.
      notBefore = place.time().nanos() + rest.toNanos();
    }
    isFirst = false;
    try {
      return Jobs.isSuspended(job)
          ? suspended(job, pods, room, nodes)
          : assembling(job, pods, nodes, rest);
    } catch (ApiRefusal refusal) {
      if (refusal.isConflict()) {
        return new Step.Waits("its job was changed meanwhile; checking again");
      }
      throw place.notAllowed("change jobs", refusal);
    }
  }

  private Step suspended(Json job, Pods pods, PodShaping.Result room, int nodes)
      throws InterruptedException, Unanswered, ApiRefusal {
    begun = Optional.empty();
    return switch (room) {
      case PodShaping.Result.Fits fits -> suspended(job, pods, fits, nodes);
      case PodShaping.Result.Hopeless(var reason, _) -> {
        letGo();
        yield new Step.Waits(failed + reason + "; nothing is reserved meanwhile");
      }
    };
  }

  private Step suspended(Json job, Pods pods, PodShaping.Result.Fits fits, int nodes)
      throws InterruptedException, Unanswered, ApiRefusal {
    if (!pods.living().isEmpty()) {
      return new Step.Waits(failed + "its pods are being deleted");
    }
    if (place.time().nanos() - notBefore < 0) {
      letGo();
      return new Step.Waits(failed + "the next try follows soon");
    }
    Optional<Long> places = fits.places();
    if (places.isPresent() && places.get() < nodes && !place.settings().scheduling().grows()) {
      letGo();
      return new Step.Waits(
          failed
              + "there is room for "
              + places.get()
              + " of its "
              + Phrase.counted(nodes, "node")
              + "; nothing is reserved meanwhile");
    }
    if (!hasLease(job)) {
      return new Step.Waits("another gang is being placed");
    }
    // Checks again, because the first check may have been before the other gang was placed.
    Optional<Long> still = places(fits);
    if (still.isPresent() && still.get() < nodes && !place.settings().scheduling().grows()) {
      letGo();
      return new Step.Waits("another gang took the room; nothing is reserved meanwhile");
    }
    suspend(job, false);
    begun = Optional.of(place.time().nanos());
    return new Step.Waits("its pods are being placed");
  }

  private Optional<Long> places(PodShaping.Result.Fits fits)
      throws InterruptedException, Unanswered {
    if (fits.nodes().isEmpty()) {
      return Optional.empty();
    }
    Set<String> names =
        fits.nodes().get().stream().map(KubernetesNode::name).collect(Collectors.toSet());
    ClusterRoom now = place.room();
    return new PodShaping.Result.Fits(
            fits.shape(),
            now.nodes()
                .map(all -> all.stream().filter(node -> names.contains(node.name())).toList()))
        .places();
  }

  private Step assembling(Json job, Pods pods, int nodes, Duration rest)
      throws InterruptedException, Unanswered, ApiRefusal {
    if (pods.placed() == nodes) {
      letGo();
      return new Step.Placed();
    }
    long now = place.time().nanos();
    if (begun.isEmpty()) {
      begun = Optional.of(now);
    }
    hasLease(job);
    if (now - begun.get() > place.settings().scheduling().assembly().toNanos()) {
      failed =
          pods.placed()
              + " of "
              + nodes
              + " pods were placed within "
              + DurationText.of(place.settings().scheduling().assembly())
              + ", so all were deleted; ";
      suspend(job, true);
      letGo();
      notBefore = now + jittered().plus(rest).toNanos();
      return new Step.Waits(failed + "another try follows");
    }
    return new Step.Waits(
        pods.placed()
            + " of "
            + nodes
            + " pods are placed"
            + pods.unplaced().map(words -> ": " + words).orElse(""));
  }

  private Duration jittered() {
    Duration wait = retry.plusMillis(random.nextLong(retry.toMillis()));
    retry = retry.multipliedBy(2).compareTo(MOST_RETRY) > 0 ? MOST_RETRY : retry.multipliedBy(2);
    return wait;
  }

  /**
   * Changes only the version that was read, so that two gateways never undo each other's change.
   */
  private void suspend(Json job, boolean word) throws InterruptedException, Unanswered, ApiRefusal {
    place
        .api()
        .change(
            place.path(Jobs.GROUP, "jobs", Jobs.name(job)),
            Json.object(
                "metadata",
                Json.object(
                    "resourceVersion", job.object("metadata").text("resourceVersion").orElse("")),
                "spec",
                Json.object("suspend", word)));
  }

  // ---- the lease

  private boolean hasLease(Json job) throws InterruptedException, Unanswered {
    long now = place.time().nanos();
    if (renewed.isPresent() && now - renewed.get() < RENEWED.toNanos()) {
      return true;
    }
    try {
      boolean isMine = taken(job);
      renewed = isMine ? Optional.of(now) : Optional.empty();
      return isMine;
    } catch (ApiRefusal refusal) {
      renewed = Optional.empty();
      // Leases are forbidden: rely on jitter and rollback.
      return refusal.isForbidden();
    }
  }

  private boolean taken(Json job) throws InterruptedException, Unanswered, ApiRefusal {
    String path = place.path(LEASES, "leases", LEASE);
    Optional<Json> there = place.api().find(path);
    if (there.isEmpty()) {
      return created(job);
    }
    Json.Obj metadata = there.get().object("metadata");
    String version = metadata.text("resourceVersion").orElse("");
    String owner = there.get().object("spec").text("holderIdentity").orElse("");
    if (!owner.isEmpty() && !owner.equals(holder)) {
      long now = place.time().nanos();
      if (other.isEmpty() || !other.get().version().equals(version)) {
        other = Optional.of(new Seen(version, now));
      }
      if (now - other.get().since() < LEASE_TIME.toNanos()) {
        return false;
      }
    }
    try {
      place.api().replace(path, lease(job, Optional.of(version)));
      return true;
    } catch (ApiRefusal refusal) {
      if (refusal.isConflict() || refusal.isNotFound()) {
        return false;
      }
      throw refusal;
    }
  }

  private boolean created(Json job) throws InterruptedException, Unanswered, ApiRefusal {
    try {
      place.api().create(place.path(LEASES, "leases"), lease(job, Optional.empty()));
      return true;
    } catch (ApiRefusal refusal) {
      if (refusal.alreadyExists()) {
        return false;
      }
      throw refusal;
    }
  }

  private Json.Obj lease(Json job, Optional<String> version) {
    Json.Obj metadata =
        Json.object(
            "name",
            LEASE,
            "labels",
            Json.object(PodTag.MANAGER_LABEL, PodTag.MANAGER),
            "ownerReferences",
            List.of(GangObjects.owner(job)));
    return Json.object(
        "apiVersion",
        "coordination.k8s.io/v1",
        "kind",
        "Lease",
        "metadata",
        version.map(text -> metadata.with("resourceVersion", text)).orElse(metadata),
        "spec",
        Json.object("holderIdentity", holder, "leaseDurationSeconds", LEASE_TIME.toSeconds()));
  }

  /** Releases the Lease, so that the next gang need not wait for its timeout. */
  public void letGo() throws InterruptedException {
    if (renewed.isEmpty()) {
      return;
    }
    renewed = Optional.empty();
    String path = place.path(LEASES, "leases", LEASE);
    try {
      Optional<Json> mine =
          place
              .api()
              .find(path)
              .filter(
                  lease -> lease.object("spec").text("holderIdentity").orElse("").equals(holder));
      if (mine.isPresent()) {
        Json.Obj metadata = mine.get().object("metadata");
        place
            .api()
            .delete(
                path,
                Json.object(
                    "preconditions",
                    Json.object(
                        "uid",
                        metadata.text("uid").orElse(""),
                        "resourceVersion",
                        metadata.text("resourceVersion").orElse(""))));
      }
    } catch (Unanswered | ApiRefusal late) {
      // Then it expires.
    }
  }
}
