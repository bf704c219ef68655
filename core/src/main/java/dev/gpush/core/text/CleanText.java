package dev.gpush.core.text;

import java.util.regex.Pattern;

/**
 * Text from another machine, made safe to show on one line: it cannot control a terminal, and is
 * read in the order in which it is written. What runs and commands print is the user's own and is
 * never changed.
 */
public final class CleanText {
  /**
   * Escape sequences of terminals; control characters, C1 among them; the ends of lines and
   * paragraphs; zero-width marks that change the reading direction.
   */
  private static final Pattern UNSAFE =
      Pattern.compile(
          "(?:\\x1b\\[[0-?]*[ -/]*[@-~]"
              + "|[\\p{Cc}\\p{Zl}\\p{Zp}\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff])+");

  private CleanText() {}

  /** Replaces everything unsafe by spaces, and removes spaces at both ends. */
  public static String line(String text) {
    return UNSAFE.matcher(text).replaceAll(" ").strip();
  }

  /**
   * One line of limited length.
   *
   * @param most how many characters are kept; an ellipsis follows when there were more
   */
  public static String line(String text, int most) {
    // Only the part that can be kept is cleaned, because text from elsewhere can be very long.
    String line = line(cut(text, 8 * most));
    return line.length() <= most ? line : cut(line, most) + "…";
  }

  /** Does not split a surrogate pair. */
  private static String cut(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
  }
}
