package dev.gpush.shell.top;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A key.
 *
 * @param letter its code point, of a {@code LETTER}
 */
record Keystroke(Kind kind, int letter) {
  private static final int ESC = 0x1b;
  private static final int CTRL_C = 3;
  private static final int DELETE = 0x7f;

  enum Kind {
    UP,
    DOWN,
    LEFT,
    RIGHT,
    PAGE_UP,
    PAGE_DOWN,
    ENTER,
    ESCAPE,
    BACKSPACE,
    INTERRUPT,
    LETTER
  }

  private static Keystroke of(Kind kind) {
    return new Keystroke(kind, 0);
  }

  static Keystroke letter(int letter) {
    return new Keystroke(Kind.LETTER, letter);
  }

  /**
   * The keys of what a terminal has sent in one piece: it sends the bytes of a key together, so an
   * escape at the end is the key of that name.
   */
  static List<Keystroke> of(byte[] bytes, int length) {
    String text = new String(bytes, 0, length, StandardCharsets.UTF_8);
    var keys = new ArrayList<Keystroke>();
    for (int at = 0; at < text.length(); ) {
      int each = text.codePointAt(at);
      at += Character.charCount(each);
      if (each == ESC && at < text.length() && (text.charAt(at) == '[' || text.charAt(at) == 'O')) {
        int end = at + 1;
        while (end < text.length() && (text.charAt(end) < '@' || text.charAt(end) > '~')) {
          end++;
        }
        String sequence = text.substring(at + 1, Math.min(text.length(), end + 1));
        sequence(sequence, keys);
        at = Math.min(text.length(), end + 1);
      } else {
        single(each, keys);
      }
    }
    return keys;
  }

  private static void sequence(String sequence, List<Keystroke> keys) {
    switch (sequence) {
      case "A" -> keys.add(of(Kind.UP));
      case "B" -> keys.add(of(Kind.DOWN));
      case "C" -> keys.add(of(Kind.RIGHT));
      case "D" -> keys.add(of(Kind.LEFT));
      case "5~" -> keys.add(of(Kind.PAGE_UP));
      case "6~" -> keys.add(of(Kind.PAGE_DOWN));
      default -> {}
    }
  }

  private static void single(int each, List<Keystroke> keys) {
    switch (each) {
      case ESC -> keys.add(of(Kind.ESCAPE));
      case CTRL_C -> keys.add(of(Kind.INTERRUPT));
      case '\r', '\n' -> keys.add(of(Kind.ENTER));
      case DELETE, '\b' -> keys.add(of(Kind.BACKSPACE));
      default -> {
        if (!Character.isISOControl(each)) {
          keys.add(letter(each));
        }
      }
    }
  }
}
