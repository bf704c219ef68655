package dev.gpush.backends.kubernetes;

import dev.gpush.core.task.Clock;
import java.time.Duration;

/**
 * Tells a failure that lasts from one that passes: what the kubelet, a scheduler or admission
 * reports may be temporary. For one cause and one thread.
 */
final class LastingFailure {
  /** Fewer looks in a row may all be of one moment. */
  private static final int LOOKS = 3;

  private static final Duration TIME = Duration.ofSeconds(3);

  private final Clock clock;
  private int looks;
  private long began;

  LastingFailure(Clock clock) {
    this.clock = clock;
  }

  /**
   * One more look.
   *
   * @return whether it fails for long now
   */
  boolean look(boolean fails) {
    if (!fails) {
      looks = 0;
      return false;
    }
    if (looks++ == 0) {
      began = clock.nanos();
    }
    return looks >= LOOKS && clock.nanos() - began >= TIME.toNanos();
  }
}
