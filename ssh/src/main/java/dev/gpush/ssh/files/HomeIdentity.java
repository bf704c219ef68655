package dev.gpush.ssh.files;

import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The identity of this home for ssh clients: a name made from its host key, so that clients never
 * confuse two homes on one machine, whatever ports they have.
 *
 * @param hostKey type and base64, as in known_hosts
 */
public record HomeIdentity(String name, String hostKey) {
  private static final int DIGITS = 12;

  public static HomeIdentity of(KeyPair host) {
    String line = KeyFiles.line(host);
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256").digest(line.getBytes(StandardCharsets.US_ASCII));
      String name = "gpush-" + HexFormat.of().formatHex(hash).substring(0, DIGITS);
      return new HomeIdentity(name, line);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * The server's version string. It must start with OpenSSH: only then does an OpenSSH client
   * report that its output is no longer read ({@code ssh host yes | head -1} would never end).
   */
  public String banner() {
    return "OpenSSH_9.9 " + name;
  }
}
