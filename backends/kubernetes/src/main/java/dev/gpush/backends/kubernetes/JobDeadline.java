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
   * The lease for an agent that has started with the terms of the request, because its node has
   * another pod; empty if it has the right ones. It must end before the deadline, which leaves no
   * time to warn runs and to remove files.
   */
  Optional<LeaseTerms> lost(Json job, Json status, Duration idle)
      throws InterruptedException, Unanswered {
    Optional<Duration> deadline = job.object("spec").number(FIELD).map(Duration::ofSeconds);
    Optional<Instant> start = Jobs.start(job);
    if (deadline.isPresent() && start.isEmpty()) {
      return Optional.empty();
    }
    Optional<Duration> hardEnd = Optional.empty();
    if (deadline.isPresent()) {
      Duration age = Duration.between(start.get(), place.api().time());
      Duration left = deadline.get().minus(age).minus(GangObjects.SLACK);
      hardEnd = Optional.of(left.isNegative() ? Duration.ZERO : left);
    }
    Optional<Duration> idleNow =
        status
            .number("idle_left_s")
            .flatMap(left -> status.number("idle_for_s").map(since -> left + since))
            .map(Duration::ofSeconds);
    return (isNear(hardEnd, status.number("hard_left_s").map(Duration::ofSeconds))
            && isNear(Optional.of(idle), idleNow))
        ? Optional.empty()
        : Optional.of(new LeaseTerms(hardEnd, idle));
  }

  private static boolean isNear(Optional<Duration> one, Optional<Duration> other) {
    return (one.isPresent() && other.isPresent())
        ? one.get().minus(other.get()).abs().compareTo(GangObjects.SLACK) <= 0
        : one.equals(other);
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
