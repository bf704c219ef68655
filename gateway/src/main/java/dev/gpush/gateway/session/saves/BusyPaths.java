package dev.gpush.gateway.session.saves;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Paths that change again and again, such as a log in the workspace: each is sent less and less
 * often. For one thread.
 */
final class BusyPaths {
  /** A path may be sent so often at once … */
  private static final double MOST_AT_ONCE = 20;

  /** … and then so often in a second: no person saves faster for long. */
  private static final double PER_SECOND = 5;

  /** A path that rests for this long after its pause is no longer busy. */
  private static final Duration REST = Duration.ofSeconds(3);

  private static final Duration LEAST = Duration.ofSeconds(1);
  private static final Duration MOST = Duration.ofSeconds(30);

  /** Of a burst not each path is remembered. */
  private static final int MOST_PATHS = 200;

  private record Row(double left, long sentAt, Duration pause) {
    boolean isOver(long now) {
      return now - sentAt > pause.plus(REST).toNanos();
    }

    boolean waits(long now) {
      return now - sentAt < pause.toNanos();
    }
  }

  private final Map<String, Row> rows = new HashMap<>();

  /** These went to the nodes. */
  void sent(List<String> paths, long now) {
    rows.values().removeIf(row -> row.isOver(now));
    if (paths.size() > MOST_PATHS) {
      return;
    }
    for (String path : paths) {
      rows.merge(path, new Row(MOST_AT_ONCE, now, Duration.ZERO), (row, _) -> again(row, now));
    }
  }

  private static Row again(Row row, long now) {
    double more = (now - row.sentAt()) * PER_SECOND / Duration.ofSeconds(1).toNanos();
    double left = Math.min(MOST_AT_ONCE, row.left() + more) - 1;
    if (row.pause().isZero() && left > 0) {
      return new Row(left, now, Duration.ZERO);
    }
    Duration longer = row.pause().multipliedBy(2);
    Duration pause = longer.compareTo(LEAST) < 0 ? LEAST : longer;
    return new Row(0, now, pause.compareTo(MOST) > 0 ? MOST : pause);
  }

  /** It changes more often than a person saves. */
  boolean isBusy(String path) {
    Row row = rows.get(path);
    return row != null && !row.pause().isZero();
  }

  /** Those that are not sent now. */
  Set<String> waiting(long now) {
    var waiting = new HashSet<String>();
    rows.forEach(
        (path, row) -> {
          if (row.waits(now)) {
            waiting.add(path);
          }
        });
    return waiting;
  }

  /** When the first of these may be sent. */
  Optional<Duration> next(Set<String> paths, long now) {
    return rows.entrySet().stream()
        .filter(row -> paths.contains(row.getKey()) && row.getValue().waits(now))
        .map(row -> row.getValue().pause().minusNanos(now - row.getValue().sentAt()))
        .min(Duration::compareTo);
  }
}
