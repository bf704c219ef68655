package dev.gpush.shell.text;

import java.util.ArrayList;
import java.util.List;
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

  /** Lines that end between words; a word that is wider has a line of its own. */
  public static List<String> wrapped(String text, int columns) {
    var lines = new ArrayList<String>();
    var line = new StringBuilder();
    for (String word : text.split(" ", -1)) {
      if (!line.isEmpty() && of(line.toString()) + 1 + of(word) > columns) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }

  private static int of(int letter) {
    if (letter < 0x300) {
      return 1;
    }
    return Math.max(0, WCWidth.wcwidth(letter));
  }
}
