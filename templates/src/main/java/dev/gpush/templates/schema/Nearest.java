package dev.gpush.templates.schema;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** What was perhaps meant. */
public final class Nearest {
  /** Longer words are no typing errors, and comparing them is quadratic. */
  private static final int LONGEST = 64;

  private Nearest() {}

  /** The known word with the fewest typing errors, if they are at most a third of it. */
  public static Optional<String> one(String word, Collection<String> known) {
    if (word.isEmpty() || word.length() > LONGEST) {
      return Optional.empty();
    }
    return known.stream()
        .filter(each -> errors(word, each) <= Math.max(1, each.length() / 3))
        .min(
            Comparator.<String>comparingInt(each -> errors(word, each))
                .thenComparing(Comparator.naturalOrder()));
  }

  /** Insertions, deletions, replacements, and swaps of neighbours; case does not count. */
  private static int errors(String typed, String known) {
    String from = typed.toLowerCase(java.util.Locale.ROOT);
    String to = known.toLowerCase(java.util.Locale.ROOT);
    var cost = new int[from.length() + 1][to.length() + 1];
    for (int i = 0; i <= from.length(); i++) {
      for (int j = 0; j <= to.length(); j++) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        int replaced = cost[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        cost[i][j] = Math.min(replaced, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
        boolean swapped =
            i > 1
                && j > 1
                && from.charAt(i - 1) == to.charAt(j - 2)
                && from.charAt(i - 2) == to.charAt(j - 1);
        if (swapped) {
          cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
      }
    }
    return cost[from.length()][to.length()];
  }
}
