package dev.gpush.gateway.session.saves;

import java.time.Duration;

/**
 * How long the editors' node is left alone after a look at it. A node that was quiet has a credit,
 * so that what a checkout makes while git is still writing comes home in several looks at once.
 *
 * @param until on a clock's nanoseconds; long ago: a credit
 */
record LookRest(long until) {
  /**
   * A node that says something all the time is looked at for this part of the time, or for half of
   * it when it names what was edited.
   */
  private static final int SHARE = 10;

  /** Enough for five seconds of looks at everything. */
  private static final Duration CREDIT = Duration.ofMinutes(1);

  private static final Duration AFTER_FAILURE = Duration.ofSeconds(30);

  static LookRest none(long now) {
    return new LookRest(now - CREDIT.toNanos());
  }

  static LookRest failed(long ended) {
    return new LookRest(ended + AFTER_FAILURE.toNanos());
  }

  /**
   * @param ended when all that it found has come
   */
  LookRest looked(long begun, long ended, boolean isOfAll) {
    long credit = Math.clamp(begun - until, 0, CREDIT.toNanos());
    return new LookRest(begun - credit + (ended - begun) * (isOfAll ? SHARE + 1 : 2));
  }

  boolean isOver(long now) {
    return now - until >= 0;
  }

  Duration left(long now) {
    return Duration.ofNanos(Math.max(0, until - now));
  }
}
