package dev.gpush.sync;

import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Time passes as a test says; the time of day jumps. It is never ahead of the real one, which files
 * get: a file that was just written would look old, and then a second version of the same size
 * within a kernel tick cannot be seen.
 */
final class ModelClock implements Clock {
  private final AtomicLong nanos = new AtomicLong();
  private volatile Duration back = Duration.ZERO;

  void setBack(int seconds) {
    back = Duration.ofSeconds(seconds);
  }

  @Override
  public Instant now() {
    return Clock.system().now().minus(back);
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  @Override
  public void sleep(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
