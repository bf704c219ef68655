package dev.gpush.core.task;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write and read them: {@code 90s}, {@code 30m}, {@code 2h}, {@code 1d12h}. */
public final class DurationText {
  public static final String RULE =
      "numbers with units, largest first: 90s, 30m, 2h, 1d12h; at most 3650d";

  /** Longer is a typing error, and would overflow a clock. */
  private static final Duration LONGEST = Duration.ofDays(3650);

  /** The form alone: 0s and what is too long match, too. */
  public static final Pattern SHAPE =
      Pattern.compile(
          "(?=.)(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?");

  private DurationText() {}

  /**
   * Reads a duration longer than 0.
   *
   * @param what names the value in the failure: {@code --for}, {@code lease.idle}
   */
  public static Duration parse(String what, String text) {
    Matcher match = SHAPE.matcher(text);
    if (!match.matches()) {
      throw new GpushException(new UsageFailure.BadValue(what, text, RULE));
    }
    Duration duration =
        Duration.ofDays(part(match, 1))
            .plusHours(part(match, 2))
            .plusMinutes(part(match, 3))
            .plusSeconds(part(match, 4));
    if (duration.isZero() || duration.compareTo(LONGEST) > 0) {
      throw new GpushException(new UsageFailure.BadValue(what, text, RULE));
    }
    return duration;
  }

  /** The two largest units: {@code 42s}, {@code 1m12s}, {@code 5h12m}, {@code 2d3h}. */
  public static String of(Duration duration) {
    long seconds = Math.max(0, duration.toSeconds());
    if (seconds < 60) {
      return seconds + "s";
    }
    if (seconds < 3600) {
      return two(seconds / 60, "m", seconds % 60, "s");
    }
    if (seconds < 86_400) {
      return two(seconds / 3600, "h", seconds % 3600 / 60, "m");
    }
    return two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h");
  }

  /** All units, so that {@link #parse} reads the same duration: {@code 1d2h30m}. */
  public static String exact(Duration duration) {
    long seconds = Math.max(0, duration.toSeconds());
    var text = new StringBuilder();
    unit(text, seconds / 86_400, "d");
    unit(text, seconds % 86_400 / 3600, "h");
    unit(text, seconds % 3600 / 60, "m");
    unit(text, seconds % 60, "s");
    return text.isEmpty() ? "0s" : text.toString();
  }

  private static void unit(StringBuilder text, long count, String unit) {
    if (count > 0) {
      text.append(count).append(unit);
    }
  }

  /** As {@link #of}, to the nearest minute from one minute on, where more would be noise. */
  public static String coarse(Duration duration) {
    return of(
        duration.compareTo(Duration.ofMinutes(1)) < 0
            ? duration
            : Duration.ofMinutes(duration.plusSeconds(30).toMinutes()));
  }

  private static String two(long large, String largeUnit, long small, String smallUnit) {
    return large + largeUnit + (small == 0 ? "" : small + smallUnit);
  }

  private static long part(Matcher match, int group) {
    String digits = match.group(group);
    return digits == null ? 0 : Long.parseLong(digits);
  }
}
