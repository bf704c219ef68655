package dev.gpush.core.text;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** "Did you mean": the known words nearest to a typed one. */
public final class Nearest {
  /** More than three guesses are a list, not a hint. */
  private static final int MOST = 3;

  /** Words beyond this are not typing errors, and the comparison is quadratic. */
  private static final int LONGEST = 64;

  private Nearest() {}

  /**
   * Best first: words that start with it, then words that differ in at most a third of their
   * letters; possibly none.
   */
  public static List<String> to(String word, Collection<String> known) {
    if (word.isEmpty() || word.length() > LONGEST) {
      return List.of();
    }
    String typed = word.toLowerCase(Locale.ROOT);
    return known.stream()
        .filter(candidate -> candidate.length() <= LONGEST)
        .map(candidate -> new Scored(candidate, score(typed, candidate.toLowerCase(Locale.ROOT))))
        .filter(scored -> scored.score <= Math.max(1, scored.word.length() / 3))
        .sorted(
            Comparator.comparingInt(Scored::score)
                .thenComparingInt(scored -> scored.word.length())
                .thenComparing(Scored::word))
        .limit(MOST)
        .map(Scored::word)
        .toList();
  }

  /** The best of them. */
  public static Optional<String> one(String word, Collection<String> known) {
    return to(word, known).stream().findFirst();
  }

  private record Scored(String word, int score) {}

  private static int score(String typed, String candidate) {
    if (typed.length() >= 2 && candidate.startsWith(typed)) {
      return 0;
    }
    return distance(typed, candidate);
  }

  /** Insertions, deletions, replacements and swaps of neighbours. */
  public static int distance(String a, String b) {
    int[][] cost = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      cost[i][0] = i;
    }
    for (int j = 0; j <= b.length(); j++) {
      cost[0][j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      for (int j = 1; j <= b.length(); j++) {
        int replaced = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        int moved = Math.min(cost[i - 1][j], cost[i][j - 1]) + 1;
        cost[i][j] = Math.min(replaced, moved);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
      }
    }
    return cost[a.length()][b.length()];
  }
}
