package dev.gpush.backends.slurm.cluster;

import java.util.ArrayList;
import java.util.List;

/** Slurm's short form of many host names: {@code gpu[01-03,7],login,r[1-2]n[1-4]}. */
public final class HostList {
  /** No gang has more names than this. */
  private static final int MOST = 100_000;

  private HostList() {}

  /** In the order in which Slurm numbers nodes. */
  public static List<String> expand(String text) {
    var hosts = new ArrayList<String>();
    for (String part : split(text)) {
      if (!part.isBlank() && !part.equals("(null)")) {
        expand("", part.strip(), hosts);
      }
    }
    return List.copyOf(hosts);
  }

  /** Splits at commas outside of brackets. */
  private static List<String> split(String text) {
    var parts = new ArrayList<String>();
    int from = 0;
    int depth = 0;
    for (int at = 0; at < text.length(); at++) {
      switch (text.charAt(at)) {
        case '[' -> depth++;
        case ']' -> depth--;
        case ',' -> {
          if (depth == 0) {
            parts.add(text.substring(from, at));
            from = at + 1;
          }
        }
        default -> {}
      }
    }
    parts.add(text.substring(from));
    return parts;
  }

  private static void expand(String done, String rest, List<String> hosts) {
    int open = rest.indexOf('[');
    int close = rest.indexOf(']', open + 1);
    if (open < 0 || close < 0) {
      if (hosts.size() < MOST) {
        hosts.add(done + rest);
      }
      return;
    }
    String before = done + rest.substring(0, open);
    String after = rest.substring(close + 1);
    for (String range : rest.substring(open + 1, close).split(",", -1)) {
      for (String number : numbers(range)) {
        expand(before + number, after, hosts);
      }
    }
  }

  private static List<String> numbers(String range) {
    String[] ends = range.split("-", 2);
    if (ends.length == 1 || !ends[0].matches("[0-9]{1,9}") || !ends[1].matches("[0-9]{1,9}")) {
      return List.of(range);
    }
    var numbers = new ArrayList<String>();
    int last = Math.min(Integer.parseInt(ends[1]), Integer.parseInt(ends[0]) + MOST);
    for (int number = Integer.parseInt(ends[0]); number <= last; number++) {
      String digits = Integer.toString(number);
      numbers.add("0".repeat(Math.max(0, ends[0].length() - digits.length())) + digits);
    }
    return numbers;
  }
}
