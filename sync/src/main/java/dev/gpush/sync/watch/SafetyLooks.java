package dev.gpush.sync.watch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * Which folders to look at though no change in them was reported, to be safe: all of them in turn,
 * and so few at a time that a save hardly waits. Not thread-safe.
 */
final class SafetyLooks {
  /** They take at most this part of the time. */
  private static final int SHARE = 5000;

  /** What one of them takes, about. */
  private static final Duration SHORT = Duration.ofMillis(25);

  /** One that took longer has waited for a command. */
  private static final Duration LONGEST = Duration.ofMillis(100);

  private static final int FEW = 16;
  private static final int MOST = 256;

  private final Duration round;
  private Iterator<Path> left = List.<Path>of().iterator();
  private int folders;
  private int count = FEW;
  private boolean isUnderWay;
  private long nextAt;

  /**
   * @param round all folders are not looked at more often
   */
  SafetyLooks(Duration round, long now) {
    this.round = round;
    this.nextAt = now + round.toNanos();
  }

  long nextAt() {
    return nextAt;
  }

  Set<Path> next(TreeWatcher watcher, long now) {
    if (!left.hasNext()) {
      List<Path> all = watcher.folders();
      folders = all.size();
      left = all.iterator();
    }
    var next = new HashSet<Path>();
    while (left.hasNext() && next.size() < count) {
      next.add(left.next());
    }
    isUnderWay = true;
    nextAt = now + round.toNanos();
    return next;
  }

  /** Some folders were looked at; perhaps those of {@link #next}. */
  void looked(Duration took, long now) {
    if (!isUnderWay) {
      return;
    }
    isUnderWay = false;
    Duration counted = took.compareTo(LONGEST) < 0 ? took : LONGEST;
    long part = round.toNanos() / Math.max(1, folders) * Math.min(count, folders);
    nextAt = now + Math.max(part, counted.toNanos() * SHARE);
    long fitting = count * SHORT.toNanos() / Math.max(1, counted.toNanos());
    count = Math.clamp(fitting, 1, Math.min(MOST, count * 2));
  }

  void lookedAtAll(long now) {
    left = List.<Path>of().iterator();
    isUnderWay = false;
    nextAt = now + round.toNanos();
  }
}
