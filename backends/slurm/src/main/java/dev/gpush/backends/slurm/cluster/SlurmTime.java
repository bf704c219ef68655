package dev.gpush.backends.slurm.cluster;

import java.time.Duration;
import java.time.LocalDateTime;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as Slurm writes them. */
public final class SlurmTime {
  private static final Pattern SPAN =
      Pattern.compile("(?:([0-9]{1,5})-)?(?:([0-9]{1,3}):)?([0-9]{1,6}):([0-9]{2})");

  private SlurmTime() {}

  /** {@code 2-00:00:00}, {@code 09:59}; empty for UNLIMITED, NONE and text that is no time. */
  public static Optional<Duration> span(String text) {
    Matcher match = SPAN.matcher(text.strip());
    if (!match.matches()) {
      return Optional.empty();
    }
    return Optional.of(
        Duration.ofDays(number(match.group(1)))
            .plusHours(number(match.group(2)))
            .plusMinutes(number(match.group(3)))
            .plusSeconds(number(match.group(4))));
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
