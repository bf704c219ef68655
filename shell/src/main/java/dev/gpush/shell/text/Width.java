package dev.gpush.shell.text;

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
    int type = Character.getType(letter);
    if (type == Character.NON_SPACING_MARK
        || type == Character.ENCLOSING_MARK
        || type == Character.FORMAT) {
      return 0;
    }
    boolean wide =
        (letter >= 0x1100 && letter <= 0x115f)
            || (letter >= 0x2e80 && letter <= 0xa4cf)
            || (letter >= 0xac00 && letter <= 0xd7a3)
            || (letter >= 0xf900 && letter <= 0xfaff)
            || (letter >= 0xfe30 && letter <= 0xfe6f)
            || (letter >= 0xff00 && letter <= 0xff60)
            || (letter >= 0xffe0 && letter <= 0xffe6)
            || (letter >= 0x1f300 && letter <= 0x1faff)
            || (letter >= 0x20000 && letter <= 0x3fffd);
    return wide ? 2 : 1;
  }
}
