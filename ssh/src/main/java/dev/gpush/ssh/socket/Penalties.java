package dev.gpush.ssh.socket;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Time that a source has to its debit for logins that failed, as sshd's PerSourcePenalties: it runs
 * off by itself, and success costs nothing. A source with more than the threshold is served last,
 * one login at a time, and never refused: another program of the same user may have a good key.
 * Pure, and not thread-safe.
 */
final class Penalties {
  /** sshd's own numbers. */
  static final Duration FAILED = Duration.ofSeconds(5);

  static final Duration TOO_SLOW = Duration.ofSeconds(10);
  private static final Duration THRESHOLD = Duration.ofSeconds(15);
  private static final Duration MOST = Duration.ofMinutes(10);

  /** Users of one machine; more of them have no debt. */
  private static final int SOURCES = 4_096;

  private final Map<String, Long> until = new HashMap<>();

  void add(String source, Duration penalty, long now) {
    until.values().removeIf(end -> end - now <= 0);
    long left = Math.max(0, until.getOrDefault(source, now) - now);
    if (until.size() < SOURCES || until.containsKey(source)) {
      until.put(source, now + Math.min(MOST.toNanos(), left + penalty.toNanos()));
    }
  }

  boolean isEmpty() {
    return until.isEmpty();
  }

  boolean isPenalized(String source, long now) {
    return until.containsKey(source) && until.get(source) - now > THRESHOLD.toNanos();
  }
}
