package dev.gpush.shell.command;

import dev.gpush.core.time.Clock;
import java.time.Duration;
import java.time.Instant;

/** A clock that stands still until it is told otherwise. */
public final class ManualClock implements Clock {
  private Instant now = Instant.parse("2026-11-21T10:00:00Z");
  private long nanos = 1_000;

  public synchronized void pass(Duration duration) {
    now = now.plus(duration);
    nanos += duration.toNanos();
  }

  @Override
  public synchronized Instant now() {
    return now;
  }

  @Override
  public synchronized long nanos() {
    return nanos;
  }
}
