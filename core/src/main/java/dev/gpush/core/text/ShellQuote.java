package dev.gpush.core.text;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Quotes words for a POSIX shell, which then sees exactly these words. Text from elsewhere reaches
 * a shell only through this class.
 */
public final class ShellQuote {
  private static final Pattern SAFE = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

  private ShellQuote() {}

  /**
   * One word.
   *
   * @throws IllegalArgumentException for a NUL, which no argument can hold
   */
  public static String of(String word) {
    if (word.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a NUL in a word");
    }
    if (SAFE.matcher(word).matches()) {
      return word;
    }
    String quoted = "'" + word.replace("'", "'\\''") + "'";
    return RawText.isUtf8(word) ? quoted : printed(quoted);
  }

  /** A byte that is not UTF-8 is printed by the shell itself: the line is text. */
  private static String printed(String quoted) {
    return RawText.mapBytes(quoted, value -> "'\"$(printf '\\%o')\"'".formatted(value));
  }

  /** All words, separated by spaces. */
  public static String join(List<String> words) {
    return words.stream().map(ShellQuote::of).collect(Collectors.joining(" "));
  }
}
