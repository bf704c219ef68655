package dev.gpush.backends.slurm.cluster;

import dev.gpush.core.text.HostRange;
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
        hosts.addAll(names(part.strip()));
      }
    }
    return List.copyOf(hosts);
  }

  /** Splits at commas outside of brackets. */
  static List<String> split(String text) {
    var parts = new ArrayList<String>();
    int from = 0;
    int depth = 0;
    for (int at = 0; at < text.length(); at++) {
      switch (text.charAt(at)) {
        case '[', '(' -> depth++;
        case ']', ')' -> depth--;
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

  /** What is no list of Slurm's stays as it is: it matches no node. */
  private static List<String> names(String part) {
    try {
      return HostRange.expand(part, MOST);
    } catch (IllegalArgumentException notSlurms) {
      return List.of(part);
    }
  }
}
