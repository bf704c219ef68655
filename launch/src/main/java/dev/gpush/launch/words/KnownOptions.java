package dev.gpush.launch.words;

import dev.gpush.core.text.PhraseTable;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What gpush knows of the options of another launcher: its rows of launchers.txt.
 *
 * @param launcher as it is called
 */
record KnownOptions(String launcher) {
  private static final List<List<String>> ROWS =
      PhraseTable.rows(KnownOptions.class, "launchers.txt", 3);

  private static final String REFUSED = "refused: ";

  /** Whether an option, without its dashes, is of this kind. */
  boolean has(String kind, String option) {
    return kinds(option).anyMatch(kind::equals);
  }

  /** Why a session cannot honour it. */
  Optional<String> refusal(String option) {
    return kinds(option)
        .filter(kind -> kind.startsWith(REFUSED))
        .map(kind -> kind.substring(REFUSED.length()))
        .findFirst();
  }

  private Stream<String> kinds(String option) {
    return ROWS.stream()
        .filter(row -> row.get(0).equals(launcher))
        .filter(row -> Arrays.asList(row.get(2).split(" ")).contains(option))
        .map(row -> row.get(1));
  }
}
