package dev.gpush.gateway.session.live;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** What was perhaps meant. */
public final class Nearest {
  private Nearest() {}

  /**
   * The known word with the fewest edits, if that is at most a third of the word, or one that
   * starts with it.
   */
  public static Optional<String> one(String word, Collection<String> known) {
    Optional<String> prefixed =
        known.stream().filter(each -> each.startsWith(word)).min(Comparator.naturalOrder());
    if (prefixed.isPresent()) {
      return prefixed;
    }
    int allowed = Math.max(1, word.length() / 3);
    return known.stream()
        .filter(each -> edits(word, each) <= allowed)
        .min(
            Comparator.<String>comparingInt(each -> edits(word, each))
                .thenComparing(Comparator.naturalOrder()));
  }

  private static int edits(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int column = 0; column <= to.length(); column++) {
      row[column] = column;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int column = 1; column <= to.length(); column++) {
        int same = diagonal + (from.charAt(i - 1) == to.charAt(column - 1) ? 0 : 1);
        diagonal = row[column];
        row[column] = Math.min(same, 1 + Math.min(row[column], row[column - 1]));
      }
    }
    return row[to.length()];
  }
}
