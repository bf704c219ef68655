package dev.gpush.core.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Facts as parts of sentences. */
public final class Phrase {
  /** More items of one kind are cut. */
  private static final int MOST = 10;

  private Phrase() {}

  public static String and(List<String> items) {
    return list(items, "and");
  }

  public static String or(List<String> items) {
    return list(items, "or");
  }

  private static String list(List<String> items, String last) {
    if (items.size() > MOST) {
      return String.join(", ", items.subList(0, MOST)) + " and " + (items.size() - MOST) + " more";
    }
    return items.size() < 2
        ? String.join("", items)
        : String.join(", ", items.subList(0, items.size() - 1))
            + " "
            + last
            + " "
            + items.getLast();
  }

  /** {@code 0, 1, 3}, or {@code 0-6, 8} of many; the numbers are in their order. */
  public static String ranges(List<Integer> numbers) {
    var parts = new ArrayList<String>();
    for (int at = 0; at < numbers.size(); ) {
      int end = at;
      while (end + 1 < numbers.size() && numbers.get(end + 1) == numbers.get(end) + 1) {
        end++;
      }
      if (end - at >= 2) {
        parts.add(numbers.get(at) + "-" + numbers.get(end));
      } else {
        numbers.subList(at, end + 1).forEach(number -> parts.add("" + number));
      }
      at = end + 1;
    }
    return String.join(", ", parts);
  }

  public static String quoted(String text) {
    return "'" + text + "'";
  }

  public static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** "1 node", "3 nodes". */
  public static String counted(long number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }

  /** Sizes for messages: 14 GB, 1.2 MB. */
  public static String size(long bytes) {
    if (bytes < 1000) {
      return bytes + " B";
    }
    double value = bytes;
    int unit = -1;
    while (value >= 999.5 && unit < 4) {
      value /= 1000;
      unit++;
    }
    String number = String.format(Locale.ROOT, value < 9.95 ? "%.1f" : "%.0f", value);
    return number.replace(".0", "") + " " + "kMGTP".charAt(unit) + "B";
  }

  public static List<String> capped(List<String> lines) {
    if (lines.size() <= MOST) {
      return lines;
    }
    var kept = new ArrayList<>(lines.subList(0, MOST));
    kept.add("and " + (lines.size() - MOST) + " more");
    return kept;
  }
}
