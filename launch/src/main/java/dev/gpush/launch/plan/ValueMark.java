package dev.gpush.launch.plan;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/** Marks of values that may be secrets: the same value has the same mark. */
final class ValueMark {
  /** Two values of one variable that differ have the same mark once in four billion times. */
  private static final int HEX_DIGITS = 8;

  private ValueMark() {}

  /**
   * Name to mark.
   *
   * @param salt so that marks of different sessions say nothing about each other
   */
  static Map<String, String> of(Map<String, String> variables, String salt) {
    var marks = new TreeMap<String, String>();
    variables.forEach((name, value) -> marks.put(name, mark(salt + "\0" + name + "\0" + value)));
    return marks;
  }

  private static String mark(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, HEX_DIGITS);
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException(missing);
    }
  }
}
