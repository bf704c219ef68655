package dev.gpush.shell.render;

import dev.gpush.core.talk.Trace;
import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.task.DurationText;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** How long a start took, as people read it. */
public final class TraceText {
  /** A start that takes less is not slow. */
  private static final Duration SLOW = Duration.ofSeconds(10);

  /** What would be 0.0 s is not shown. */
  private static final Duration SHOWN = Duration.ofMillis(50);

  private TraceText() {}

  /**
   * The lines of a table; none of a start that was not measured.
   *
   * @param columns what the reader's window holds; 0: no limit
   */
  public static List<String> table(Trace trace, int columns) {
    if (trace.isEmpty()) {
      return List.of();
    }
    Table table = new Table("PHASE", "TIME", "WHAT");
    trace.phases().stream()
        .filter(each -> each.took().compareTo(SHOWN) >= 0)
        .forEach(each -> table.row(each.stage().word(), time(each.took()), each.what()));
    if (trace.rest().compareTo(SHOWN) >= 0) {
      table.row("other", time(trace.rest()), "");
    }
    return table.row("total", time(trace.took()), "").lines(columns);
  }

  /** Of a start that was slow: its slowest phase. */
  public static Optional<String> slow(Trace trace) {
    return trace
        .slowest()
        .filter(_ -> trace.took().compareTo(SLOW) >= 0)
        .map(
            phase ->
                "its start took "
                    + time(trace.took())
                    + "; the slowest phase, "
                    + phase.stage().word()
                    + ", took "
                    + words(phase));
  }

  /** Of a start that is not over: the phase that it is in. */
  public static Optional<String> present(Trace trace) {
    return trace.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "it has been starting for "
                + time(trace.took())
                + "; its phase now, "
                + trace.phases().getLast().stage().word()
                + ", has taken "
                + words(trace.phases().getLast()));
  }

  private static String words(Phase phase) {
    return time(phase.took()) + (phase.what().isEmpty() ? "" : ": " + phase.what());
  }

  /** Seconds with a tenth, where that says something. */
  public static String time(Duration time) {
    return time.compareTo(Duration.ofMinutes(1)) < 0
        ? String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0)
        : DurationText.of(time);
  }
}
