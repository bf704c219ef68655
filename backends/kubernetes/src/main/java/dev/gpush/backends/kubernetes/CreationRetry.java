package dev.gpush.backends.kubernetes;

import dev.gpush.backends.remote.PollInterval;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.task.Clock;
import java.time.Duration;

/**
 * Repeats the creation of an object that the API server did not answer. A server that has just
 * started says 500 until the admission webhooks that it asks have started too.
 */
final class CreationRetry {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private final Clock clock;
  private final Waiter waiter;
  private final PollInterval interval = new PollInterval();
  private final long end;

  CreationRetry(Clock clock, Waiter waiter) {
    this.clock = clock;
    this.waiter = waiter;
    this.end = clock.nanos() + LIMIT.toNanos();
  }

  /** Waits before the next attempt; throws what happened when there should be none. */
  void await(Unanswered lost) throws InterruptedException, Unanswered {
    if (lost.known().isPresent() || clock.nanos() - end > 0) {
      throw lost;
    }
    waiter.waits(lost.words());
    interval.await();
  }
}
