package dev.gpush.core.task;

import java.time.Instant;

/** The machine's own clock. */
final class SystemClock implements Clock {
  @Override
  public Instant now() {
    return Instant.now();
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }
}
