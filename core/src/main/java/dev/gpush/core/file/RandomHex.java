package dev.gpush.core.file;

import java.util.HexFormat;
import java.util.random.RandomGenerator;

/** Random bytes as hex digits: for names that nothing else has, and for secrets. */
public final class RandomHex {
  private RandomHex() {}

  /**
   * The digits.
   *
   * @param random unguessable where the digits are a secret
   * @param bytes each two digits
   */
  public static String of(RandomGenerator random, int bytes) {
    var some = new byte[bytes];
    random.nextBytes(some);
    return HexFormat.of().formatHex(some);
  }
}
