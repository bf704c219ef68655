package dev.gpush.ssh.files;

import dev.gpush.core.file.Sha256;
import java.security.KeyPair;

/**
 * The identity of this home for ssh clients: a name made from its host key, so that clients never
 * confuse two homes on one machine, whatever ports they have.
 *
 * @param hostKey type and base64, as in known_hosts
 */
public record HomeIdentity(String name, String hostKey) {
  private static final int NAME_BYTES = 6;

  public static HomeIdentity of(KeyPair host) {
    String line = KeyFiles.line(host);
    return new HomeIdentity("gpush-" + Sha256.hex(line, NAME_BYTES), line);
  }

  /**
   * The server's version string. It must start with OpenSSH: only then does an OpenSSH client
   * report that its output is no longer read ({@code ssh host yes | head -1} would never end).
   */
  public String banner() {
    return "OpenSSH_9.9 " + name;
  }
}
