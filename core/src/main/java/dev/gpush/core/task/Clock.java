package dev.gpush.core.task;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

/** The time of day for people and the monotonic time for everything else. Tests use their own. */
public interface Clock {
  /** For display and the ledger only: it may jump. */
  Instant now();

  /** Monotonic nanoseconds; only differences mean something. */
  long nanos();

  /** Of this machine, for times that people read where it is not known where they are. */
  default ZoneId zone() {
    return ZoneId.systemDefault();
  }

  default void sleep(Duration time) throws InterruptedException {
    Thread.sleep(time);
  }

  static Clock system() {
    return new SystemClock();
  }
}
