package dev.gpush.sync.tree;

import dev.gpush.core.file.Sha256;
import java.util.HexFormat;

/** SHA-256, the strongest hash that is fast in both Java's and Python's own libraries. */
public final class Hashes {
  private static final int HEX_LENGTH = 64;

  private Hashes() {}

  public static String of(byte[] bytes) {
    return hex(Sha256.of(bytes));
  }

  public static String hex(byte[] hash) {
    return HexFormat.of().formatHex(hash);
  }

  public static byte[] bytes(String hash) {
    return HexFormat.of().parseHex(hash);
  }

  static boolean isHash(String text) {
    return text.length() == HEX_LENGTH
        && text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }
}
