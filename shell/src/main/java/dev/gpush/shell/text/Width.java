package dev.gpush.shell.text;

import org.jline.utils.WCWidth;

/**
 * How many columns of a terminal a text takes: 2 for East Asian wide letters and emoji, 0 for
 * combining marks.
 */
public final class Width {
  private Width() {}

  public static int of(String text) {
    return text.codePoints().map(Width::of).sum();
  }

  /** The text, or as much of its beginning as fits with an ellipsis; 0 columns: no limit. */
  public static String cut(String text, int columns) {
    if (columns <= 0 || of(text) <= columns) {
      return text;
    }
    var kept = new StringBuilder();
    int width = 0;
    for (int at = 0; at < text.length(); ) {
      int letter = text.codePointAt(at);
      width += of(letter);
      if (width > columns - 1) {
        break;
      }
      kept.appendCodePoint(letter);
      at += Character.charCount(letter);
    }
    return kept.append('…').toString();
  }

  private static int of(int letter) {
    if (letter < 0x300) {
      return 1;
    }
    return Math.max(0, WCWidth.wcwidth(letter));
  }
}
