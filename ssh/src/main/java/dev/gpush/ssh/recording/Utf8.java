package dev.gpush.ssh.recording;

/** Characters in UTF-8 as RFC 3629 has them: none too long, no surrogates, none above U+10FFFF. */
final class Utf8 {
  private static final int LONGEST = 4;

  private Utf8() {}

  /** Bytes of the character that begins here; 0 when it is none, or none before the end. */
  static int length(byte[] bytes, int at, int end) {
    int length = announced(bytes[at]);
    return at + length <= end && begins(bytes, at, length) == length ? length : 0;
  }

  /** Bytes at the end that may become a character with what follows. */
  static int cutAtEnd(byte[] bytes) {
    int first = Math.max(0, bytes.length - LONGEST + 1);
    for (int at = first; at < bytes.length; at++) {
      int there = bytes.length - at;
      int length = announced(bytes[at]);
      if (length > there && begins(bytes, at, there) == there) {
        return there;
      }
    }
    return 0;
  }

  /** How long a character with this first byte is; 0 when there is none. */
  private static int announced(byte first) {
    int value = first & 0xff;
    if (value < 0x80) {
      return 1;
    }
    if (value < 0xc2 || value > 0xf4) {
      return 0;
    }
    return value < 0xe0 ? 2 : value < 0xf0 ? 3 : 4;
  }

  /** How many of these bytes, up to {@code length}, are the beginning of a character. */
  private static int begins(byte[] bytes, int at, int length) {
    for (int i = 1; i < length; i++) {
      int value = bytes[at + i] & 0xff;
      int least = i == 1 ? leastSecond(bytes[at] & 0xff) : 0x80;
      int most = i == 1 ? mostSecond(bytes[at] & 0xff) : 0xbf;
      if (value < least || value > most) {
        return i;
      }
    }
    return length;
  }

  private static int leastSecond(int first) {
    return switch (first) {
      case 0xe0 -> 0xa0;
      case 0xf0 -> 0x90;
      default -> 0x80;
    };
  }

  private static int mostSecond(int first) {
    return switch (first) {
      case 0xed -> 0x9f;
      case 0xf4 -> 0x8f;
      default -> 0xbf;
    };
  }
}
