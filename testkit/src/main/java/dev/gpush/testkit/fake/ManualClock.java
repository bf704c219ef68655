package dev.gpush.testkit.fake;

import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that a test advances. Thread-safe. */
public final class ManualClock implements Clock {
  private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

  private final AtomicLong nanos = new AtomicLong();

  public void advance(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException("time does not go back: " + time);
    }
    nanos.addAndGet(time.toNanos());
  }

  @Override
  public Instant now() {
    return START.plusNanos(nanos.get());
  }

  @Override
  public ZoneId zone() {
    return ZoneOffset.UTC;
  }

  /** Does not start at zero, so that code that assumes zero fails. */
  @Override
  public long nanos() {
    return Long.MAX_VALUE - 1_000_000_000L + nanos.get();
  }
}
