package dev.gpush.backends.slurm.cluster;

import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as Slurm writes and reads them. */
public final class SlurmTime {
  private static final Pattern SPAN =
      Pattern.compile("(?:([0-9]{1,5})-)?([0-9]{1,6})(?::([0-9]{1,3}))?(?::([0-9]{1,3}))?");

  private SlurmTime() {}

  /**
   * {@code 2-00:00:00}, {@code 2-12} (hours), {@code 09:59}, {@code 30} (minutes); empty for
   * UNLIMITED, NONE and text that is no time.
   */
  public static Optional<Duration> span(String text) {
    Matcher match = SPAN.matcher(text.strip());
    if (!match.matches()) {
      return Optional.empty();
    }
    long first = number(match.group(2));
    long second = number(match.group(3));
    long third = number(match.group(4));
    boolean isFromHours = match.group(1) != null || match.group(4) != null;
    return Optional.of(
        isFromHours
            ? Duration.ofDays(number(match.group(1)))
                .plusHours(first)
                .plusMinutes(second)
                .plusSeconds(third)
            : Duration.ofMinutes(first).plusSeconds(second));
  }

  private static long number(String digits) {
    return digits == null ? 0 : Long.parseLong(digits);
  }

  /** The cluster's own time of day; only differences between two of them mean something. */
  public static Optional<LocalDateTime> moment(String text) {
    try {
      return Optional.of(LocalDateTime.parse(text.strip()));
    } catch (DateTimeParseException none) {
      return Optional.empty();
    }
  }

  /** For --time, rounded up to whole minutes. */
  public static String limit(Duration time) {
    return Long.toString(Math.max(1, time.plusSeconds(59).toMinutes()));
  }
}
