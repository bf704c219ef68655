package dev.gpush.ssh.files;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.util.List;
import java.util.Optional;
import org.apache.sshd.common.NamedResource;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.util.security.SecurityUtils;

/**
 * The two keys of a home, made on first use, in OpenSSH's own format: the server's host key, and
 * the user key that clients use.
 */
public final class KeyFiles {
  private final Path folder;

  public KeyFiles(Path home) {
    this.folder = home.resolve("keys");
  }

  Path hostKeyFile() {
    return folder.resolve("ssh_host_ed25519_key");
  }

  /** What {@code ssh -i} takes. */
  public Path userKeyFile() {
    return folder.resolve("id_ed25519");
  }

  public KeyPair hostKey() {
    return key(hostKeyFile(), "gpush host");
  }

  public KeyPair userKey() {
    return key(userKeyFile(), "gpush user");
  }

  /** The public half, as known_hosts and authorized_keys have it: type and base64. */
  static String line(KeyPair key) {
    return PublicKeyEntry.toString(key.getPublic());
  }

  private KeyPair key(Path file, String comment) {
    try {
      if (Files.notExists(file)) {
        make(file, comment);
      }
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
      return read(file);
    } catch (IOException | GeneralSecurityException failed) {
      throw new GpushException(
          new GatewayFailure.HomeUnusable(
              file.toString(),
              failed instanceof IOException broken
                  ? FileReason.of(broken)
                  : "it is not a usable private key"),
          failed);
    }
  }

  private void make(Path file, String comment) throws IOException, GeneralSecurityException {
    WholeFile.makeFolder(folder);
    KeyPair made = JdkEd25519.generate();
    var text = new ByteArrayOutputStream();
    OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(made, comment, null, text);
    Path publicFile = file.resolveSibling(file.getFileName() + ".pub");
    WholeFile.write(publicFile, line(made) + " " + comment + "\n", "rw-r--r--");
    WholeFile.write(file, text.toByteArray(), "rw-------");
  }

  private static KeyPair read(Path file) throws IOException, GeneralSecurityException {
    try (InputStream input = Files.newInputStream(file)) {
      var name = NamedResource.ofName(file.toString());
      // Null when there is none.
      Optional<Iterable<KeyPair>> keys =
          Optional.ofNullable(SecurityUtils.loadKeyPairIdentities(null, name, input, null));
      for (KeyPair key : keys.orElse(List.of())) {
        return key;
      }
      throw new IOException("there is no private key in it");
    }
  }
}
