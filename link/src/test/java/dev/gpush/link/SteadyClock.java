package dev.gpush.link;

import dev.gpush.core.task.Clock;
import dev.gpush.core.task.WakeWatch;
import java.time.Instant;

/**
 * Real time for one link, without jumps: a process that did not run for a while, or whose machine's
 * time was set, seems to have run.
 */
public final class SteadyClock implements Clock {
  /** {@link WakeWatch} calls {@link #now} more often, and takes more than twice this for a jump. */
  private static final long MOST_NANOS = 2 * WakeWatch.LOOK_NANOS;

  // guarded by this
  private long leftOut;
  private long looked = System.nanoTime();

  @Override
  public synchronized long nanos() {
    long time = System.nanoTime() - leftOut;
    long jump = Math.max(0, time - looked - MOST_NANOS);
    leftOut += jump;
    return time - jump;
  }

  @Override
  public synchronized Instant now() {
    looked = nanos();
    return Instant.EPOCH.plusNanos(looked);
  }
}
