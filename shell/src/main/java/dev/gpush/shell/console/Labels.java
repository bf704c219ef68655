package dev.gpush.shell.console;

import dev.gpush.core.text.Phrase;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;

/** What stands before a line: who printed it. */
public sealed interface Labels {
  /** More would move the text away from the eye. */
  int LONGEST = 16;

  /** How many print what is shown. */
  int shown();

  String of(SortedSet<Integer> who);

  /**
   * The ranks of a run.
   *
   * @param all how many the run has
   * @param only those that are shown; empty: all
   */
  record OfRanks(int all, Set<Integer> only) implements Labels {
    public OfRanks {
      only = Set.copyOf(only);
    }

    @Override
    public int shown() {
      return only.isEmpty() ? all : only.size();
    }

    @Override
    public String of(SortedSet<Integer> ranks) {
      if (ranks.size() > 1 && ranks.size() == all) {
        return "[all " + all + "] ";
      }
      if (ranks.first() < 0) {
        return "[launch] ";
      }
      String numbers = ranges(ranks);
      return numbers.length() > LONGEST
          ? "[" + ranks.size() + " of " + all + "] "
          : "[" + numbers + "] ";
    }
  }

  /**
   * The nodes of one command.
   *
   * @param shown how many they are
   */
  record OfNodes(int shown) implements Labels {
    @Override
    public String of(SortedSet<Integer> nodes) {
      if (nodes.size() == 1) {
        return "node " + nodes.first() + ": ";
      }
      String numbers = ranges(nodes);
      return numbers.length() > LONGEST
          ? nodes.size() + " of " + shown + " nodes: "
          : "nodes " + numbers + ": ";
    }
  }

  private static String ranges(SortedSet<Integer> sorted) {
    return Phrase.ranges(List.copyOf(sorted)).replace(" ", "");
  }
}
