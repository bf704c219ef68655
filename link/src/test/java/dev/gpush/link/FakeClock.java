package dev.gpush.link;

import dev.gpush.core.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/** Time that stands still until it is moved. */
final class FakeClock implements Clock {
  private final AtomicLong nanos = new AtomicLong();

  void advance(Duration by) {
    nanos.addAndGet(by.toNanos());
  }

  @Override
  public Instant now() {
    return Instant.EPOCH.plusNanos(nanos.get());
  }

  @Override
  public long nanos() {
    return nanos.get();
  }
}
