package dev.gpush.backends.remote;

import java.time.Duration;

/**
 * The time between two looks at the same thing: short at first, then longer, so that waiting for a
 * day costs the controller little.
 */
public final class PollInterval {
  private static final Duration FIRST = Duration.ofMillis(200);
  private static final Duration MOST = Duration.ofSeconds(15);
  private static final double GROWTH = 1.3;

  private Duration next = FIRST;

  public void await() throws InterruptedException {
    Thread.sleep(next);
    Duration longer = Duration.ofMillis((long) (next.toMillis() * GROWTH));
    next = longer.compareTo(MOST) > 0 ? MOST : longer;
  }
}
