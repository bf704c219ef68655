package dev.gpush.core.text;

import java.util.Arrays;
import java.util.List;

/**
 * A table in a resource: words of another program, and what gpush says about them. A row is a line
 * with {@code |} between blanks after each column; a line that starts with {@code #} is a comment.
 */
public final class PhraseTable {
  private PhraseTable() {}

  /**
   * The rows, each with all its columns.
   *
   * @param user beside which the resource is
   */
  public static List<List<String>> rows(Class<?> user, String name, int columns) {
    return Resource.text(user, name)
        .lines()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(line -> row(name, line, columns))
        .toList();
  }

  private static List<String> row(String name, String line, int columns) {
    List<String> row = Arrays.stream(line.split(" \\|(?: |$)", -1)).map(String::strip).toList();
    if (row.size() != columns) {
      throw new IllegalStateException(name + ": " + line);
    }
    return row;
  }
}
