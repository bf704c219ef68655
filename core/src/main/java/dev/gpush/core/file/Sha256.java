package dev.gpush.core.file;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The one hash that we use: for contents, names and marks. */
public final class Sha256 {
  private Sha256() {}

  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java has SHA-256", impossible);
    }
  }

  public static byte[] of(byte[] content) {
    return digest().digest(content);
  }

  /**
   * The beginning of a text's hash.
   *
   * @param bytes of the hash, each two digits
   */
  public static String hex(String text, int bytes) {
    return HexFormat.of().formatHex(of(text.getBytes(StandardCharsets.UTF_8)), 0, bytes);
  }
}
