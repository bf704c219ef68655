package dev.gpush.link;

import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Time that stands still until it is moved. Unlike the testkit's clock it does not overflow: agents
 * order the pipes of a link by it.
 */
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
