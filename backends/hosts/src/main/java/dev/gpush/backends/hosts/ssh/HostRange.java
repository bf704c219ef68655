package dev.gpush.backends.hosts.ssh;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code gpu[01-04,07].lab} as five names: zeros in front stay. */
public final class HostRange {
  /** More hosts in one inventory have not been tried. */
  static final int MOST = 1024;

  private static final Pattern BRACKETS =
      Pattern.compile("\\[([0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)]");

  private HostRange() {}

  public static List<String> names(String text) {
    Matcher match = BRACKETS.matcher(text);
    if (!match.find()) {
      return List.of(text);
    }
    var names = new ArrayList<String>();
    for (String part : match.group(1).split(",", -1)) {
      for (String number : numbers(part)) {
        String name = text.substring(0, match.start()) + number + text.substring(match.end());
        names.addAll(names(name));
        if (names.size() > MOST) {
          throw new IllegalArgumentException("more than " + MOST + " hosts in " + text);
        }
      }
    }
    return names;
  }

  private static List<String> numbers(String part) {
    int dash = part.indexOf('-');
    if (dash < 0) {
      return List.of(part);
    }
    String first = part.substring(0, dash);
    String last = part.substring(dash + 1);
    if (first.length() > 9 || last.length() > 9) {
      throw new IllegalArgumentException("a number of at most nine digits, not " + part);
    }
    int from = Integer.parseInt(first);
    int to = Integer.parseInt(last);
    if (from > to || to - from >= MOST) {
      throw new IllegalArgumentException(
          "from the smaller to the larger, at most " + MOST + ", not " + part);
    }
    var numbers = new ArrayList<String>();
    for (int number = from; number <= to; number++) {
      String digits = Integer.toString(number);
      numbers.add("0".repeat(Math.max(0, first.length() - digits.length())) + digits);
    }
    return numbers;
  }
}
