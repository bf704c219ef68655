package dev.gpush.ssh.access;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Where it is written who may log in beside the home's own key; read again when a file changes.
 *
 * @param owner the person of the home's own key
 * @param authorizedKeys in OpenSSH's format; it need not exist
 * @param trustedUserCas files with the public keys of certificate authorities
 * @param principals a certificate must name one of them
 * @param revokedKeys files with public keys, or key revocation lists of ssh-keygen
 */
public record AccessFiles(
    String owner,
    Path authorizedKeys,
    List<Path> trustedUserCas,
    Set<String> principals,
    List<Path> revokedKeys) {
  public AccessFiles {
    trustedUserCas = List.copyOf(trustedUserCas);
    principals = Set.copyOf(principals);
    revokedKeys = List.copyOf(revokedKeys);
  }

  /** The home's own key, and what its {@code authorized_keys} allows. */
  public static AccessFiles ofHome(Path home, String owner) {
    return new AccessFiles(
        owner, home.resolve("authorized_keys"), List.of(), Set.of(owner), List.of());
  }
}
