package dev.gpush.core.task;

import java.time.Duration;
import java.time.Instant;

/**
 * Notices that this process did not run for a while. While a laptop sleeps, the monotonic clock
 * stops but the time of day does not; after SIGSTOP both have advanced. Used by one thread, which
 * checks at least every {@link #LOOK_NANOS}.
 */
public final class WakeWatch {
  public static final long LOOK_NANOS = 1_000_000_000L;

  /** A loaded machine is late by less; a pipe that a shorter sleep has cut fails by itself. */
  private static final Duration JUMP = Duration.ofSeconds(5);

  private final Clock clock;
  private long nanos;
  private Instant wall;

  public WakeWatch(Clock clock) {
    this.clock = clock;
    this.nanos = clock.nanos();
    this.wall = clock.now();
  }

  /** Whether time has jumped since the last look. */
  public boolean hasJumped() {
    long nanosBefore = nanos;
    Instant wallBefore = wall;
    nanos = clock.nanos();
    wall = clock.now();
    Duration ran = Duration.ofNanos(nanos - nanosBefore);
    Duration passed = Duration.between(wallBefore, wall);
    return ran.compareTo(JUMP) > 0 || passed.minus(ran).compareTo(JUMP) > 0;
  }
}
