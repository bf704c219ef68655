package dev.gpush.testkit.slow;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** What {@link SlowPlaces} puts into the program. */
public final class Pause {
  private static final long NANOS = 40_000_000;

  /** Per place; otherwise a loop would take too long. */
  private static final int TIMES = 10;

  private static final Map<Integer, AtomicInteger> PAUSES = new ConcurrentHashMap<>();

  private Pause() {}

  /** Pauses the calling thread; an interrupt is kept. */
  public static void here(int place) {
    if (PAUSES.computeIfAbsent(place, _ -> new AtomicInteger()).getAndIncrement() >= TIMES) {
      return;
    }
    boolean isInterrupted = false;
    long end = System.nanoTime() + NANOS;
    for (long left = NANOS; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
      isInterrupted |= Thread.interrupted();
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
