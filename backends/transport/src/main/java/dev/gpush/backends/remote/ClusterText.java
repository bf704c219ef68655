package dev.gpush.backends.remote;

import dev.gpush.core.text.CleanText;
import java.util.List;
import java.util.stream.Collectors;

/** What a cluster says, made fit to be shown. */
public final class ClusterText {
  /** A sentence; more is a page. */
  private static final int MOST = 300;

  private static final int MOST_LISTED = 8;

  private ClusterText() {}

  /** One line without control characters, not long. */
  public static String clean(String text) {
    return CleanText.line(text, MOST).replaceAll(" {2,}", " ");
  }

  /** "a, b, c and 5 more". */
  public static String list(List<String> words) {
    if (words.size() <= MOST_LISTED) {
      return clean(String.join(", ", words));
    }
    String first = words.stream().limit(MOST_LISTED - 1L).collect(Collectors.joining(", "));
    return clean(first) + " and " + (words.size() - MOST_LISTED + 1) + " more";
  }
}
