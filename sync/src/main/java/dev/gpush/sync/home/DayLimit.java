package dev.gpush.sync.home;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * How many new files come home by themselves in a day, so that neither a program that makes a file
 * each second nor a node that lies fills this disk.
 */
final class DayLimit {
  private static final Duration DAY = Duration.ofHours(24);

  private record Came(long nanos, long bytes) {}

  private final int mostFiles;
  private final long mostBytes;
  private final Deque<Came> came = new ArrayDeque<>();

  private DayLimit(int mostFiles, long mostBytes) {
    this.mostFiles = mostFiles;
    this.mostBytes = mostBytes;
  }

  /** As many as a person makes. */
  static DayLimit made() {
    return new DayLimit(200, 50L << 20);
  }

  /** As many as a first push sends without a question: git made them, for a person. */
  static DayLimit tracked() {
    return new DayLimit(20_000, 1L << 30);
  }

  void came(long bytes, long nanos) {
    came.add(new Came(nanos, bytes));
  }

  /** Why no more may come now; empty when they may. */
  Optional<String> whyNot(int files, long bytes, long nanos) {
    while (!came.isEmpty() && nanos - came.getFirst().nanos() > DAY.toNanos()) {
      came.removeFirst();
    }
    long before = came.stream().mapToLong(Came::bytes).sum();
    if (came.size() + files > mostFiles) {
      return Optional.of("more than " + mostFiles + " new files in a day");
    }
    return before + bytes > mostBytes
        ? Optional.of("more than " + (mostBytes >> 20) + " MB of new files in a day")
        : Optional.empty();
  }
}
