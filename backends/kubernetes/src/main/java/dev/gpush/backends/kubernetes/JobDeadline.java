package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;

/**
 * The deadline of a gang's Job. The API server counts it from the start of the Job, by its own
 * clock; agents count their hard end from their own start.
 */
final class JobDeadline {
  private static final String FIELD = "activeDeadlineSeconds";

  private final Namespace place;

  JobDeadline(Namespace place) {
    this.place = place;
  }

  /** Ends the Job a little after this time from now. */
  void set(Json job, Optional<Duration> hardEnd) throws InterruptedException, Unanswered {
    Optional<Instant> start = Jobs.start(job);
    Duration age =
        start.isPresent() ? Duration.between(start.get(), place.api().time()) : Duration.ZERO;
    try {
      change(job, hardEnd.map(end -> age.plus(end)));
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("change jobs", refusal);
    }
  }

  /**
   * Fetching an image can take longer than the slack after the agents' hard end: then the deadline
   * moves, because the Job would be ended before agents have warned runs and removed files. If the
   * cluster has a limit and refuses that, the gang has its nodes all the same, with less warning.
   *
   * @param statuses of agents that have just started
   */
  void keepAfter(Json job, Collection<Json> statuses) throws InterruptedException, Unanswered {
    Optional<Duration> now = job.object("spec").number(FIELD).map(Duration::ofSeconds);
    Optional<Instant> start = Jobs.start(job);
    Optional<Duration> latest =
        statuses.stream()
            .flatMap(status -> status.number("hard_left_s").stream())
            .max(Long::compare)
            .map(Duration::ofSeconds);
    if (now.isEmpty() || start.isEmpty() || latest.isEmpty()) {
      return;
    }
    Duration age = Duration.between(start.get(), place.api().time());
    Duration slack = now.get().minus(age).minus(latest.get());
    if (slack.compareTo(GangObjects.SLACK.dividedBy(2)) < 0) {
      try {
        change(job, latest.map(end -> age.plus(end)));
      } catch (ApiRefusal limited) {
        // It was granted with this limit.
      }
    }
  }

  /**
   * The lease of a gang whose node 0 has another pod. It must end before the deadline, which leaves
   * no time to warn runs and to remove files.
   */
  LeaseTerms lease(Json job, Duration idle) throws InterruptedException, Unanswered {
    Optional<Duration> deadline = job.object("spec").number(FIELD).map(Duration::ofSeconds);
    Optional<Instant> start = Jobs.start(job);
    if (deadline.isEmpty()) {
      return new LeaseTerms(Optional.empty(), idle);
    }
    if (start.isEmpty()) {
      return LeaseTerms.ofIdleTime(idle);
    }
    Duration age = Duration.between(start.get(), place.api().time());
    Duration left = deadline.get().minus(age).minus(GangObjects.SLACK);
    return new LeaseTerms(Optional.of(left.isNegative() ? Duration.ZERO : left), idle);
  }

  private void change(Json job, Optional<Duration> end)
      throws InterruptedException, Unanswered, ApiRefusal {
    Optional<Long> seconds = end.map(each -> each.plus(GangObjects.SLACK).toSeconds());
    place
        .api()
        .change(
            place.path(Jobs.GROUP, "jobs", Jobs.name(job)),
            Json.object("spec", Json.object(FIELD, seconds)));
  }
}
