package dev.gpush.ssh.connection;

import dev.gpush.core.text.CleanText;
import java.security.PublicKey;

/**
 * The key that a client has logged in with: the user name picks the node, the key picks the person.
 *
 * @param person the owner, the comment of an authorized key, or the id of a certificate
 * @param offered as the client sent it: a key or a certificate
 */
public record Login(String person, String fingerprint, PublicKey offered, Permissions permissions) {
  private static final int LONGEST_PERSON = 80;

  public Login {
    person = CleanText.line(person, LONGEST_PERSON);
  }
}
