package dev.gpush.sync.home;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * How many new files come home by themselves: as many as a person makes in a day, so that a program
 * which makes a file each second, and has no name that is known, does not fill this disk.
 */
final class DayLimit {
  static final int MOST_FILES = 200;
  static final long MOST_BYTES = 50L << 20;

  private static final Duration DAY = Duration.ofHours(24);

  private record Came(long nanos, long bytes) {}

  private final Deque<Came> came = new ArrayDeque<>();

  void came(long bytes, long nanos) {
    came.add(new Came(nanos, bytes));
  }

  /** Why no more may come now; empty when they may. */
  Optional<String> whyNot(int files, long bytes, long nanos) {
    while (!came.isEmpty() && nanos - came.getFirst().nanos() > DAY.toNanos()) {
      came.removeFirst();
    }
    long before = came.stream().mapToLong(Came::bytes).sum();
    if (came.size() + files > MOST_FILES) {
      return Optional.of("more than " + MOST_FILES + " new files in a day");
    }
    return before + bytes > MOST_BYTES
        ? Optional.of("more than " + (MOST_BYTES >> 20) + " MB of new files in a day")
        : Optional.empty();
  }
}
