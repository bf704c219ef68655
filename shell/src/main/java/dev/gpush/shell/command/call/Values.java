package dev.gpush.shell.command.call;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Nearest;
import dev.gpush.core.text.Phrase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Values of options, read with the option's name in the failure. */
public final class Values {
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,9}");

  /** Rank numbers are 16 bits in the journal of a run, and 65535 is the launcher. */
  private static final int LARGEST = 65_534;

  private Values() {}

  public static Optional<Duration> time(String option, Optional<String> text) {
    return text.map(value -> DurationText.parse(option, value));
  }

  /** 1 to the most that one session may have. */
  public static Optional<Integer> nodes(Optional<String> text) {
    return text.map(value -> number("--nodes", value, 1, GangRequest.MAX_NODES));
  }

  public static int number(String what, String text, int least, int most) {
    int value = NUMBER.matcher(text).matches() ? Integer.parseInt(text) : -1;
    if (value < least || value > most) {
      String rule =
          most == Integer.MAX_VALUE
              ? "a number, " + least + " or more"
              : "a number from " + least + " to " + most;
      throw new GpushException(new UsageFailure.BadValue(what, text, rule));
    }
    return value;
  }

  /** {@code G41}, as {@code gpush runs} shows it, or 41. */
  public static long generation(String option, String text) {
    String number = text.replaceFirst("^[Gg]", "");
    if (!NUMBER.matcher(number).matches()) {
      throw new GpushException(
          new UsageFailure.BadValue(option, text, "a generation, such as G41"));
    }
    return Long.parseLong(number);
  }

  /** {@code 0,2,5-7}; empty for none given. */
  public static Set<Integer> numbers(String option, Optional<String> text) {
    var numbers = new TreeSet<Integer>();
    for (String part : text.map(value -> value.split(",", -1)).orElse(new String[0])) {
      String[] ends = part.split("-", 2);
      int first = item(option, text, ends[0]);
      int last = ends.length == 1 ? first : item(option, text, ends[1]);
      if (last < first) {
        throw badList(option, text);
      }
      for (int i = first; i <= last; i++) {
        numbers.add(i);
      }
    }
    return numbers;
  }

  private static int item(String option, Optional<String> whole, String text) {
    if (!NUMBER.matcher(text).matches() || Integer.parseInt(text) > LARGEST) {
      throw badList(option, whole);
    }
    return Integer.parseInt(text);
  }

  private static GpushException badList(String option, Optional<String> whole) {
    return new GpushException(
        new UsageFailure.BadValue(
            option,
            whole.orElse(""),
            "numbers and ranges separated by commas, such as 0,2 or 0-3"));
  }

  /** The word, if it is one of these; {@code what} names it. */
  public static String oneOf(String command, String what, String word, List<String> choices) {
    if (choices.contains(word)) {
      return word;
    }
    List<String> nearest = Nearest.to(word, choices);
    throw bad(
        command,
        what
            + " must be "
            + Phrase.or(choices)
            + ", not "
            + Phrase.quoted(word)
            + (nearest.isEmpty() ? "" : "; did you mean " + nearest.getFirst() + "?"));
  }

  public static GpushException bad(String command, String rule) {
    return new GpushException(new UsageFailure.BadArguments(command, rule, List.of()));
  }
}
