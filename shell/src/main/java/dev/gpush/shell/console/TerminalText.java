package dev.gpush.shell.console;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * A line of a rank as it may be written to a terminal between other lines: colours pass, and end
 * with the line; what moves the cursor, sets titles or rings is left out.
 */
final class TerminalText {
  private static final String ESCAPE = "\u001b";
  private static final String RESET = ESCAPE + "[0m";

  /**
   * In text with a letter for each byte: colours, the group; other escape sequences, of which one
   * without an end takes the rest of the line; titles and the like, up to a bell or an escape
   * sequence; control characters, of which those above 0x7f are two bytes in UTF-8. The first of
   * these bytes goes alone too, because the second one may follow what is left out.
   */
  private static final Pattern CONTROL =
      Pattern.compile(
          "(?s)(\\x1b\\[[ -?]*+m)"
              + "|\\x1b\\[[ -?]*+.?"
              + "|\\x1b[]PX^_][^\\x07\\x1b]*+(?:\\x07|\\x1b.?)?"
              + "|\\x1b[ -/]*+.?"
              + "|\\xc2(?![\\xa0-\\xbf])[\\x80-\\x9f]?"
              + "|[\\x00-\\x08\\x0a-\\x1f\\x7f]");

  private TerminalText() {}

  static byte[] of(byte[] text) {
    if (isPlain(text)) {
      return text;
    }
    String kept = without(text, "$1");
    return bytes(kept.contains(ESCAPE) ? kept + RESET : kept);
  }

  /** Without colours, for a line whose width counts. */
  static String plain(byte[] text) {
    byte[] kept = isPlain(text) ? text : bytes(without(text, ""));
    return new String(kept, StandardCharsets.UTF_8);
  }

  private static String without(byte[] text, String colour) {
    String letters = new String(text, StandardCharsets.ISO_8859_1);
    return CONTROL.matcher(letters).replaceAll(colour);
  }

  private static byte[] bytes(String letters) {
    return letters.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Most lines are; 0xc2 may begin a control character. */
  private static boolean isPlain(byte[] text) {
    for (byte each : text) {
      boolean isControl = each >= 0 && each < ' ' && each != '\t';
      if (isControl || each == 0x7f || each == (byte) 0xc2) {
        return false;
      }
    }
    return true;
  }
}
