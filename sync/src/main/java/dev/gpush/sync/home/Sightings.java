package dev.gpush.sync.home;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Since when paths of the node are as they are. Programs and editors need a moment for a file. */
final class Sightings {
  private record Sighting(String stamp, long nanos) {}

  private final Duration settled;
  private Map<String, Sighting> last = Map.of();
  private Map<String, Sighting> next = new HashMap<>();

  Sightings(Duration settled) {
    this.settled = settled;
  }

  /** Begins a look: what it does not see is forgotten. */
  void begin() {
    last = next;
    next = new HashMap<>();
  }

  /** Whether it has been like this for long enough. */
  boolean isSettled(String path, String stamp, long nanos) {
    Sighting before = last.get(path);
    Sighting now =
        before != null && before.stamp().equals(stamp) ? before : new Sighting(stamp, nanos);
    next.put(path, now);
    return nanos - now.nanos() >= settled.toNanos();
  }
}
