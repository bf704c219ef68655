package dev.gpush.shell.console;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;

/**
 * What stands before a line on a terminal: who printed it.
 *
 * @param all how many ranks the run has
 * @param only the ranks that are shown; empty: all
 */
public record RankLabels(int all, Set<Integer> only) {
  /** More would move the text away from the eye. */
  private static final int LONGEST = 16;

  public RankLabels {
    only = Set.copyOf(only);
  }

  /** How many ranks print what is shown. */
  int shown() {
    return only.isEmpty() ? all : only.size();
  }

  String of(SortedSet<Integer> ranks) {
    if (ranks.size() > 1 && ranks.size() == all) {
      return "[all " + all + "] ";
    }
    if (ranks.first() < 0) {
      return "[launch] ";
    }
    String numbers = ranges(List.copyOf(ranks));
    return numbers.length() > LONGEST
        ? "[" + ranks.size() + " of " + all + "] "
        : "[" + numbers + "] ";
  }

  private static String ranges(List<Integer> ranks) {
    var parts = new ArrayList<String>();
    for (int at = 0; at < ranks.size(); ) {
      int end = at;
      while (end + 1 < ranks.size() && ranks.get(end + 1) == ranks.get(end) + 1) {
        end++;
      }
      parts.add(end == at ? "" + ranks.get(at) : ranks.get(at) + "-" + ranks.get(end));
      at = end + 1;
    }
    return String.join(",", parts);
  }
}
