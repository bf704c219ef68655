package dev.gpush.ssh.socket;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * An empty line where a client has to say its version. SSHD would wait for the rest of it until the
 * time for a login is over.
 */
final class NoVersion {
  private NoVersion() {}

  /**
   * @param first the first bytes of a client, from 0
   */
  static boolean begins(ByteBuffer first) {
    return first.get(0) == '\n' || first.get(0) == '\r';
  }

  /** As sshd says it. */
  static ByteBuffer answer() {
    return StandardCharsets.US_ASCII.encode("Invalid SSH identification string.\r\n");
  }
}
