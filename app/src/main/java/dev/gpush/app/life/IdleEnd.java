package dev.gpush.app.life;

import dev.gpush.core.task.Clock;
import java.time.Duration;

/**
 * Whether the gateway has had no session and no client for long enough to end. The next command
 * starts another one, which costs a second; until then the machine has its memory back.
 */
public final class IdleEnd {
  /** Long enough for someone who thinks between two commands. */
  public static final Duration USUAL = Duration.ofMinutes(10);

  private final Duration limit;
  private final Clock clock;
  private long usedAt;

  public IdleEnd(Duration limit, Clock clock) {
    this.limit = limit;
    this.clock = clock;
    this.usedAt = clock.nanos();
  }

  public Duration limit() {
    return limit;
  }

  /** Called every few seconds, by one thread. */
  public boolean isDue(boolean inUse) {
    long now = clock.nanos();
    if (inUse) {
      usedAt = now;
    }
    return now - usedAt >= limit.toNanos();
  }
}
