package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.JobEdits;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

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

  /** A quota that is too small, and not only used up. */
  private static final String TOO_SMALL = "maximum capacity";

  /** These reasons do not end by waiting. */
  private static final Set<String> HOPELESS =
      Set.of("ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured");

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
    Json workload = workloads.getFirst();
    String name = workload.object("metadata").text("name").orElse("");
    for (Json condition : workload.object("status").items("conditions")) {
      boolean holds = condition.text("status").orElse("").equals("True");
      if (condition.text("type").orElse("").equals("QuotaReserved") && !holds) {
        String reason = condition.text("reason").orElse("");
        String message = condition.text("message").orElse(reason);
        return Optional.of(
            new Waiting(
                position(place, name) + words(message),
                HOPELESS.contains(reason) || message.contains(TOO_SMALL)));
      }
    }
    return Optional.of(new Waiting(position(place, name) + "it is not its turn yet", false));
  }

  /** "insufficient unused quota for nvidia.com/gpu in flavor default, 16 more needed". */
  private static String words(String message) {
    return ClusterText.clean(
        message.replaceFirst("^couldn't assign flavors to pod set [^:]*: ", ""));
  }

  /** "2 of 5 in the queue research: "; without the position if that may not be read. */
  private String position(Namespace place, String workload)
      throws InterruptedException, Unanswered {
    String in = "in the queue " + queue + ": ";
    try {
      for (Json each : pending(place)) {
        if (name(each).equals(workload)) {
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
  public Optional<JobsAhead> ahead(Namespace place, Json job)
      throws InterruptedException, Unanswered {
    try {
      List<String> own = workloads(place, job).stream().map(KueueGang::name).toList();
      List<Json> pending = pending(place);
      return pending.stream()
          .filter(each -> own.contains(name(each)))
          .findFirst()
          .map(each -> ahead(pending, before(each)));
    } catch (ApiRefusal none) {
      return Optional.empty();
    }
  }

  /** Only those of its own queue have names here. */
  private JobsAhead ahead(List<Json> pending, long count) {
    List<String> names =
        pending.stream()
            .filter(each -> before(each) < count)
            .sorted(Comparator.comparingLong(KueueGang::before))
            .map(KueueGang::owner)
            .toList();
    var who = new ArrayList<>(names.stream().limit(MOST).toList());
    if (names.size() > MOST) {
      who.add(Phrase.count(names.size() - MOST) + " more of " + queue);
    }
    if (count > names.size()) {
      who.add(Phrase.count(count - names.size()) + " of other queues");
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

  private static String name(Json workload) {
    return workload.object("metadata").text("name").orElse("");
  }

  /** The Job or the like; a workload without one has only its own name. */
  private static String owner(Json workload) {
    return ClusterText.clean(
        workload.object("metadata").items("ownerReferences").stream()
            .findFirst()
            .flatMap(each -> each.text("name"))
            .orElseGet(() -> name(workload)));
  }
}
