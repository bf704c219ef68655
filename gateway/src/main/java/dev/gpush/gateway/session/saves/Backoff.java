package dev.gpush.gateway.session.saves;

import java.time.Duration;

/**
 * How long something that failed is not tried again. Each try reads files on the nodes, which
 * counts as activity there: one that is repeated at a fixed pace keeps a node from ever being idle.
 *
 * @param pause twice as long after each failure
 * @param since on a clock's nanoseconds
 */
record Backoff(Duration pause, long since) {
  private static final Duration MOST = Duration.ofDays(1);

  static Backoff none() {
    return new Backoff(Duration.ZERO, 0);
  }

  Backoff failed(Duration first, long now) {
    Duration twice = pause.multipliedBy(2);
    Duration next = twice.compareTo(first) < 0 ? first : twice;
    return new Backoff(next.compareTo(MOST) > 0 ? MOST : next, now);
  }

  /** The next failure doubles this shorter pause. */
  Backoff atMost(Duration limit) {
    return pause.compareTo(limit) > 0 ? new Backoff(limit, since) : this;
  }

  /** What is left of the pause. */
  Duration left(long now) {
    Duration left = pause.minusNanos(now - since);
    return pause.isZero() || left.isNegative() ? Duration.ZERO : left;
  }

  boolean isOver(long now) {
    return left(now).isZero();
  }
}
