package dev.gpush.shell.console;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A line of a rank as it may be written to a terminal between other lines: colours pass, and end
 * with the line; what moves the cursor, sets titles or rings is left out.
 */
final class TerminalText {
  private static final byte ESCAPE = 0x1b;
  private static final byte BELL = 0x07;
  private static final byte DELETE = 0x7f;

  /** The first byte of control characters above 0x7f in UTF-8. */
  private static final byte C1 = (byte) 0xc2;

  private static final byte[] RESET = {ESCAPE, '[', '0', 'm'};

  private TerminalText() {}

  static byte[] of(byte[] text) {
    return shown(text, true);
  }

  /** Without colours, for a line whose width counts. */
  static String plain(byte[] text) {
    return new String(shown(text, false), StandardCharsets.UTF_8);
  }

  private static byte[] shown(byte[] text, boolean hasColours) {
    if (isPlain(text)) {
      return text;
    }
    var kept = new ByteArrayOutputStream(text.length + RESET.length);
    boolean isColoured = false;
    int at = 0;
    while (at < text.length) {
      byte each = text[at];
      if (each == ESCAPE) {
        int end = escapeEnd(text, at);
        if (hasColours && isColour(text, at, end)) {
          kept.write(text, at, end - at);
          isColoured = true;
        }
        at = end;
      } else if (isC1(text, at)) {
        at += 2;
      } else {
        if (isText(each)) {
          kept.write(each);
        }
        at++;
      }
    }
    if (isColoured) {
      kept.writeBytes(RESET);
    }
    return kept.toByteArray();
  }

  private static boolean isPlain(byte[] text) {
    for (byte each : text) {
      if (!isText(each) || each == C1) {
        return false;
      }
    }
    return true;
  }

  private static boolean isText(byte each) {
    return (each < 0 || each >= ' ' || each == '\t') && each != DELETE;
  }

  private static boolean isC1(byte[] text, int at) {
    return text[at] == C1 && at + 1 < text.length && (text[at + 1] & 0xe0) == 0x80;
  }

  private static boolean isColour(byte[] text, int at, int end) {
    return end - at > 2 && text[at + 1] == '[' && text[end - 1] == 'm';
  }

  /** Behind the escape sequence that begins here; one without an end takes the rest of the line. */
  private static int escapeEnd(byte[] text, int begin) {
    int at = begin + 1;
    if (at >= text.length) {
      return at;
    }
    return switch (text[at]) {
      case '[' -> skip(text, at + 1, '@');
      case ']', 'P', 'X', '^', '_' -> stringEnd(text, at + 1);
      default -> skip(text, at, '0');
    };
  }

  /** Behind the first byte that is not between a blank and this limit. */
  private static int skip(byte[] text, int from, char limit) {
    int at = from;
    while (at < text.length && text[at] >= ' ' && text[at] < limit) {
      at++;
    }
    return Math.min(text.length, at + 1);
  }

  /** Behind the bell or the escape sequence that ends a title and the like. */
  private static int stringEnd(byte[] text, int from) {
    int at = from;
    while (at < text.length && text[at] != BELL && text[at] != ESCAPE) {
      at++;
    }
    boolean isEscape = at < text.length && text[at] == ESCAPE;
    return Math.min(text.length, at + (isEscape ? 2 : 1));
  }
}
