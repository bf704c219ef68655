package dev.gpush.sync.delta;

/**
 * The hash of a window that moves by one byte at a time: a polynomial in 64 bits. It only finds
 * candidates. Whether a patched file is right is known by its SHA-256.
 */
final class RollingHash {
  /** Odd, with bits all over it. */
  private static final long BASE = 0x9e37_79b9_7f4a_7c15L;

  /** Makes a byte differ from no byte. */
  private static final long SHIFT = 1;

  private static final int BYTE = 0xff;

  /** BASE to the power of the window's length, less one. */
  private final long highest;

  private final int window;
  private long value;

  RollingHash(int window) {
    this.window = window;
    long power = 1;
    for (int i = 1; i < window; i++) {
      power *= BASE;
    }
    this.highest = power;
  }

  long value() {
    return value;
  }

  void begin(byte[] bytes, int offset) {
    value = of(bytes, offset, window);
  }

  /** The window loses its first byte, and gets one at its end. */
  void move(byte first, byte next) {
    value = (value - number(first) * highest) * BASE + number(next);
  }

  static long of(byte[] bytes, int offset, int length) {
    long hash = 0;
    for (int i = offset; i < offset + length; i++) {
      hash = append(hash, bytes[i]);
    }
    return hash;
  }

  static long append(long hash, byte next) {
    return hash * BASE + number(next);
  }

  private static long number(byte one) {
    return (one & BYTE) + SHIFT;
  }
}
