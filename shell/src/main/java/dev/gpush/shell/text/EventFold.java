package dev.gpush.shell.text;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Events that wait to be shown: of each key only the newest, and never many. Not thread-safe. */
public final class EventFold {
  /** More lines are read by nobody; {@code ps} and {@code runs} say what is. */
  private static final int MOST = 20;

  private final Duration spacing;
  private final Map<String, ShellEvent> waiting = new LinkedHashMap<>();
  private final Map<String, Long> shown = new LinkedHashMap<>();
  private int left;

  /**
   * @param spacing an event waits this long after one of its key was shown
   */
  public EventFold(Duration spacing) {
    this.spacing = spacing;
  }

  public void add(ShellEvent event) {
    Optional<ShellEvent> before = Optional.ofNullable(waiting.remove(event.key()));
    waiting.put(event.key(), before.map(event::after).orElse(event));
    if (waiting.size() > MOST) {
      waiting.remove(waiting.keySet().iterator().next());
      left++;
    }
  }

  /** What waits under this key is not true any more. */
  public void forget(String key) {
    waiting.remove(key);
  }

  /** Takes out those that may be shown now. */
  public List<ShellEvent> due(long now) {
    shown.values().removeIf(at -> now - at >= spacing.toNanos());
    List<ShellEvent> due =
        waiting.values().stream().filter(event -> !shown.containsKey(event.key())).toList();
    var lines = new ArrayList<ShellEvent>();
    if (left > 0 && !due.isEmpty()) {
      lines.add(ShellEvent.of("left out", left + " earlier events are not shown"));
      left = 0;
    }
    for (ShellEvent event : due) {
      waiting.remove(event.key());
      shown.put(event.key(), now);
      lines.add(event);
    }
    return lines;
  }

  /** When the next one may be shown; empty: none waits. */
  public Optional<Duration> next(long now) {
    return waiting.keySet().stream()
        .map(key -> shown.getOrDefault(key, now - spacing.toNanos()))
        .map(at -> spacing.minusNanos(now - at))
        .map(wait -> wait.isNegative() ? Duration.ZERO : wait)
        .min(Duration::compareTo);
  }
}
