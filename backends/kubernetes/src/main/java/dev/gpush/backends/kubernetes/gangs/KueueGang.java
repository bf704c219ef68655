package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.JobEdits;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Kueue: a queue with quotas. It lets a Job start when its quota has room for all of it.
 *
 * @param queue a LocalQueue of the namespace
 * @param version of its objects there
 * @param near the label of the part of the network that pods should share, if Kueue places them
 */
public record KueueGang(String queue, String version, Optional<String> near) implements GangSystem {
  static final String GROUP = "kueue.x-k8s.io";

  /** More jobs are only counted. */
  private static final int MOST = 5;

  private static final String VISIBILITY = "/apis/visibility.kueue.x-k8s.io/";

  @Override
  public String name() {
    return "kueue";
  }

  @Override
  public Json.Obj marked(Json.Obj job, GangObjects manifest) {
    Json.Obj queued = JobEdits.label(job, "kueue.x-k8s.io/queue-name", queue);
    return near.filter(_ -> manifest.nodes() > 1)
        .map(
            label ->
                JobEdits.podAnnotation(queued, "kueue.x-k8s.io/podset-preferred-topology", label))
        .orElse(queued);
  }

  @Override
  public Begin begin() {
    return Begin.BY_ITSELF;
  }

  private String api() {
    return "/apis/" + GROUP + "/" + version;
  }

  private List<Json> workloads(Namespace place, Json job)
      throws InterruptedException, Unanswered, ApiRefusal {
    String uid = job.object("metadata").text("uid").orElse("");
    return place.list(api(), "workloads", "kueue.x-k8s.io/job-uid=" + uid);
  }

  @Override
  public boolean putBack(Namespace place, Json job) throws InterruptedException, Unanswered {
    return activate(place, job, false);
  }

  @Override
  public void letComeAgain(Namespace place, Json job) throws InterruptedException, Unanswered {
    activate(place, job, true);
  }

  /** A workload that is not active has no quota, and its Job no pods. */
  private boolean activate(Namespace place, Json job, boolean word)
      throws InterruptedException, Unanswered {
    try {
      for (Json workload : workloads(place, job)) {
        Json.Obj spec = workload.object("spec");
        boolean isActive = spec.get("active").isEmpty() || spec.flag("active");
        String name = workload.object("metadata").text("name").orElse("");
        if (isActive != word) {
          place
              .api()
              .change(
                  place.path(api(), "workloads", name),
                  Json.object("spec", Json.object("active", word)));
        }
      }
      return true;
    } catch (ApiRefusal notAllowed) {
      return false;
    }
  }

  @Override
  public Optional<Waiting> waiting(Namespace place, Json job, Pods pods)
      throws InterruptedException, Unanswered {
    List<Json> workloads;
    try {
      workloads = workloads(place, job);
    } catch (ApiRefusal notAllowed) {
      return Optional.of(new Waiting("it waits in the queue " + queue, false));
    }
    if (workloads.isEmpty()) {
      return Optional.of(new Waiting("Kueue has not considered it yet", false));
    }
    var workload = new KueueWorkload(workloads.getFirst());
    Optional<Waiting> waiting = workload.waiting();
    return waiting.isEmpty()
        ? waiting
        : Optional.of(
            new Waiting(
                position(place, workload.name()) + waiting.get().words(),
                waiting.get().isHopeless()));
  }

  /** "2 of 5 in the queue research: "; without the position if that may not be read. */
  private String position(Namespace place, String workload)
      throws InterruptedException, Unanswered {
    String in = "in the queue " + queue + ": ";
    try {
      for (Json each : pending(place)) {
        if (KueueWorkload.name(each).equals(workload)) {
          long before = before(each);
          return (before + 1) + (before == 0 ? " (next) " : " ") + in;
        }
      }
      return in;
    } catch (ApiRefusal | Unanswered none) {
      return in;
    }
  }

  @Override
  public Plan plan(Namespace place, PodShape shape, int nodes, Plan.Now now)
      throws InterruptedException, Unanswered {
    return new KueueQuota(place, api(), queue).plan(shape, nodes, now);
  }

  @Override
  public Optional<JobsAhead> ahead(Namespace place, Json job)
      throws InterruptedException, Unanswered {
    try {
      List<String> own = workloads(place, job).stream().map(KueueWorkload::name).toList();
      List<Json> pending = pending(place);
      Optional<Long> before =
          pending.stream()
              .filter(each -> own.contains(KueueWorkload.name(each)))
              .findFirst()
              .map(KueueGang::before);
      return before.isEmpty()
          ? Optional.empty()
          : Optional.of(ahead(place, owner(job), pending, before.get()));
    } catch (ApiRefusal none) {
      return Optional.empty();
    }
  }

  private static String owner(Json job) {
    return PodTag.of(job).map(tag -> tag.facts().requester().owner()).orElse("");
  }

  /** Only those of its own queue have names here. */
  private JobsAhead ahead(Namespace place, String owner, List<Json> pending, long count)
      throws InterruptedException, Unanswered, ApiRefusal {
    List<Json> before =
        pending.stream()
            .filter(each -> before(each) < count)
            .sorted(Comparator.comparingLong(KueueGang::before))
            .toList();
    var who = new ArrayList<String>();
    for (Json each : before.stream().limit(MOST).toList()) {
      who.add(workload(place, KueueWorkload.name(each)).words(job(each), owner));
    }
    if (before.size() > MOST) {
      who.add(Phrase.count(before.size() - MOST) + " more of " + queue);
    }
    if (count > before.size()) {
      who.add(Phrase.count(count - before.size()) + " of other queues");
    }
    return new JobsAhead("the cluster queue of " + queue, count, who, false);
  }

  /** Those of this queue that wait for quota, with their positions. */
  private List<Json> pending(Namespace place) throws InterruptedException, Unanswered, ApiRefusal {
    return place
        .api()
        .get(place.path(VISIBILITY + version, "localqueues", queue) + "/pendingworkloads")
        .items("items");
  }

  private static long before(Json workload) {
    return workload.number("positionInClusterQueue").orElse(0L);
  }

  /** The Job or the like; a workload without one has only its own name. */
  private static String job(Json pending) {
    return pending.object("metadata").items("ownerReferences").stream()
        .findFirst()
        .flatMap(each -> each.text("name"))
        .orElseGet(() -> KueueWorkload.name(pending));
  }

  /** As a list, because the rights that gpush asks for have no get; empty if it is gone. */
  private KueueWorkload workload(Namespace place, String name)
      throws InterruptedException, Unanswered, ApiRefusal {
    String named = "?fieldSelector=" + ApiServer.encoded("metadata.name=" + name);
    return place.api().get(place.path(api(), "workloads") + named).items("items").stream()
        .filter(each -> KueueWorkload.name(each).equals(name))
        .findFirst()
        .map(KueueWorkload::new)
        .orElseGet(() -> new KueueWorkload(Json.object()));
  }
}
