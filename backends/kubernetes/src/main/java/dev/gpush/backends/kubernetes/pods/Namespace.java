package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.kubernetes.cluster.ClusterPlace;
import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.KubernetesNode;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/** A namespace of a cluster, with its settings and its API server. */
public final class Namespace {
  /** So that a plan and the reservation right after it read the cluster once. */
  private static final Duration FRESH = Duration.ofSeconds(3);

  private final String name;
  private final KubernetesSettings settings;
  private final ApiServer api;
  private final Clock clock;
  private final Optional<ClusterPlace> former;

  /** Where a gang was found last, else where it was made; empty: wherever this leads. */
  private final AtomicReference<Optional<String>> home;

  private final AtomicReference<Optional<Seen>> seen = new AtomicReference<>(Optional.empty());

  public Namespace(String name, KubernetesSettings settings, ApiServer api, Clock clock) {
    this(name, settings, api, clock, Optional.empty());
  }

  private Namespace(
      String name,
      KubernetesSettings settings,
      ApiServer api,
      Clock clock,
      Optional<ClusterPlace> former) {
    this.name = name;
    this.settings = settings;
    this.api = api;
    this.clock = clock;
    this.former = former;
    this.home = new AtomicReference<>(former.map(ClusterPlace::server));
  }

  /** Where it leads now. */
  public ClusterPlace now() {
    return new ClusterPlace(api.context(), namespace(), api.server());
  }

  /** The namespace that was there, by the context of that time. */
  public Namespace at(ClusterPlace there) {
    KubernetesSettings fixed = settings.at(there);
    return new Namespace(name, fixed, api.at(fixed.access()), clock, Optional.of(there));
  }

  private record Seen(ClusterRoom room, long nanos) {}

  public String name() {
    return name;
  }

  public KubernetesSettings settings() {
    return settings;
  }

  public ApiServer api() {
    return api;
  }

  /** The local clock, for durations. */
  public Clock time() {
    return clock;
  }

  public String namespace() {
    return settings.namespace().or(api::namespace).orElse("default");
  }

  /** The path of objects of one kind in the namespace. */
  public String path(String group, String kind) {
    return group + "/namespaces/" + namespace() + "/" + kind;
  }

  public String path(String group, String kind, String object) {
    return path(group, kind) + "/" + object;
  }

  public List<Json> list(String group, String kind, String selector)
      throws InterruptedException, Unanswered, ApiRefusal {
    return api.get(path(group, kind) + "?labelSelector=" + ApiServer.encoded(selector))
        .items("items");
  }

  /** The Job of a gang; if there are several, which should never happen, the oldest. */
  public Optional<Json> job(GangId gang) throws InterruptedException, Unanswered {
    Optional<Json> found;
    try {
      found =
          list(Jobs.GROUP, "jobs", PodTag.selector(gang)).stream()
              .min(
                  Comparator.comparing(
                      job -> job.object("metadata").text("creationTimestamp").orElse("")));
    } catch (ApiRefusal refusal) {
      throw notAllowed("list jobs", refusal);
    }
    if (found.isEmpty()) {
      requireHome();
    } else if (former.isPresent()) {
      // Its cluster has another address now.
      home.set(Optional.of(api.server()));
    }
    return found;
  }

  /**
   * For a gang that is not found.
   *
   * @throws Unanswered if this may be another cluster than the gang's, where its absence means
   *     nothing
   */
  public void requireHome() throws Unanswered {
    Optional<String> is = home.get();
    if (is.isEmpty() || is.get().equals(api.server())) {
      return;
    }
    String context = former.flatMap(ClusterPlace::context).map(it -> "context " + it).orElse("it");
    String why =
        context
            + " leads to "
            + api.server()
            + " now, and these nodes were made at "
            + is.get()
            + ", which may be another cluster";
    String remedy = "kubectl config set-cluster CLUSTER --server=" + is.get();
    throw new Unanswered(
        why + "; try " + remedy,
        new GpushException(new BackendFailure.Unavailable(name, why, remedy)));
  }

  /**
   * The namespace's pod security level, if that forbids to lock memory: {@code baseline} or {@code
   * restricted}. Empty also if it may not be read.
   */
  public Optional<String> policy() throws InterruptedException, Unanswered {
    try {
      return api.find("/api/v1/namespaces/" + namespace())
          .flatMap(
              there ->
                  there
                      .object("metadata")
                      .object("labels")
                      .text("pod-security.kubernetes.io/enforce"))
          .filter(level -> !level.equals("privileged"));
    } catch (ApiRefusal refusal) {
      return Optional.empty();
    }
  }

  /** The failure of a reservation of which nothing is held. */
  public GpushException failed(String why) {
    return new GpushException(new BackendFailure.ReserveFailed(name, why));
  }

  /** The same for a missing answer; a failure that the user can act on stays as it is. */
  public GpushException failed(Unanswered unknown) {
    return unknown.known().orElseGet(() -> failed(unknown.words()));
  }

  public Unanswered notAllowed(String what, ApiRefusal refusal) {
    if (refusal.isForbidden()) {
      return new Unanswered(
          "you may not " + what + " in " + namespace(),
          new GpushException(
              new BackendFailure.Unavailable(
                  name,
                  "you may not "
                      + what
                      + " in its namespace "
                      + namespace()
                      + ": "
                      + refusal.words(),
                  "gpush backends --explain")));
    }
    return new Unanswered(refusal.words(), refusal);
  }

  public ClusterRoom room() throws InterruptedException, Unanswered {
    ClusterRoom now = ClusterRoom.of(api);
    seen.set(Optional.of(new Seen(now, clock.nanos())));
    return now;
  }

  /**
   * The cluster's nodes, those of these pods among them: from the last list if that has them,
   * because the facts used here do not change.
   *
   * @return empty if they may not be listed, or if that is not known now
   */
  public Optional<List<KubernetesNode>> nodes(Pods pods) throws InterruptedException {
    Set<String> hosts =
        pods.byNode().values().stream().map(GrantedPods::host).collect(Collectors.toSet());
    Optional<List<KubernetesNode>> last = seen.get().flatMap(each -> each.room().nodes());
    if (last.stream()
        .anyMatch(nodes -> nodes.stream().map(KubernetesNode::name).toList().containsAll(hosts))) {
      return last;
    }
    try {
      return ClusterRoom.nodes(api);
    } catch (Unanswered unknown) {
      return Optional.empty();
    }
  }

  /** The cluster's room as it was just read by the plan. */
  public ClusterRoom roomAsPlanned() throws InterruptedException, Unanswered {
    Optional<Seen> last = seen.get();
    return last.isPresent() && clock.nanos() - last.get().nanos() < FRESH.toNanos()
        ? last.get().room()
        : room();
  }

  /** A kubectl command for this cluster, as the user would type it. */
  public String kubectl(String words) {
    return settings.access().kubectl() + " -n " + namespace() + " " + words;
  }
}
