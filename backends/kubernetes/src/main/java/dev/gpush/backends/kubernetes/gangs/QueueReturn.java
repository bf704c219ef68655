package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.DurationText;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * A queue lets a gang start when its quota has room, even if the nodes have no room for all of its
 * pods. A gang that was not placed whole in time is put back, so that it does not hold a part for
 * ever, and starts again after a pause.
 */
public final class QueueReturn {
  private static final Duration RETRY = Duration.ofSeconds(5);

  private final Namespace place;
  private final GangSystem system;
  private final RandomGenerator random;

  private Optional<Long> begun = Optional.empty();
  private Optional<Long> notBefore;
  private String words = "";

  public QueueReturn(Namespace place, GangSystem system, RandomGenerator random) {
    this.place = place;
    this.system = system;
    this.random = random;
    // A gateway that was killed may have put it back and not started it again.
    this.notBefore = Optional.of(place.time().nanos());
  }

  /** A reason to show, if there is one. */
  public Optional<String> step(Json job, Pods pods, int nodes)
      throws InterruptedException, Unanswered {
    long now = place.time().nanos();
    if (Jobs.isSuspended(job)) {
      begun = Optional.empty();
      if (notBefore.isPresent() && now - notBefore.get() >= 0 && pods.living().isEmpty()) {
        system.letComeAgain(place, job);
        notBefore = Optional.empty();
        words = "";
      }
      return words.isEmpty() ? Optional.empty() : Optional.of(words);
    }
    if (notBefore.isPresent() && !words.isEmpty()) {
      return Optional.of(words);
    }
    if (begun.isEmpty()) {
      begun = Optional.of(now);
    }
    boolean isLate = now - begun.get() > place.settings().scheduling().assembly().toNanos();
    if (isLate && system.putBack(place, job)) {
      words =
          pods.placed()
              + " of "
              + nodes
              + " pods were placed within "
              + DurationText.of(place.settings().scheduling().assembly())
              + ", so all were put back into the queue";
      notBefore = Optional.of(now + RETRY.plusMillis(random.nextLong(RETRY.toMillis())).toNanos());
      return Optional.of(words);
    }
    return Optional.empty();
  }
}
