package dev.gpush.sync.tree;

import dev.gpush.core.file.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * SHA-256 over lines {@code path NUL kind NUL x NUL hash LF}. Gives many lines to the digest at
 * once: most are ASCII and need no encoder.
 */
final class ManifestLines {
  private static final int BYTES = 64 << 10;

  private final MessageDigest digest = Sha256.digest();
  private final byte[] buffer = new byte[BYTES];
  private int length;

  void add(String path, Entry entry) {
    put(path);
    put("\0");
    put(entry.key());
    put("\n");
  }

  /** Of the lines since the last call. */
  byte[] hash() {
    flush();
    return digest.digest();
  }

  private void put(String text) {
    if (text.length() > BYTES - length) {
      flush();
    }
    if (text.length() > BYTES || !putAscii(text)) {
      flush();
      digest.update(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** False, and nothing is put, when it is not ASCII. */
  private boolean putAscii(String text) {
    int at = length;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c >= 128) {
        return false;
      }
      buffer[at++] = (byte) c;
    }
    length = at;
    return true;
  }

  private void flush() {
    digest.update(buffer, 0, length);
    length = 0;
  }
}
