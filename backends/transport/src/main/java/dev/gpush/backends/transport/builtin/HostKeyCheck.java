package dev.gpush.backends.transport.builtin;

import com.hierynomus.sshj.userauth.certificate.Certificate;
import dev.gpush.core.failure.MachineFailure;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import net.schmizz.sshj.common.Buffer;
import net.schmizz.sshj.common.KeyType;
import net.schmizz.sshj.transport.verification.HostKeyVerifier;
import net.schmizz.sshj.transport.verification.OpenSSHKnownHosts;
import net.schmizz.sshj.transport.verification.OpenSSHKnownHosts.KnownHostEntry;

/**
 * Whether the host has the key that its known_hosts files name: a changed one is never taken, an
 * unknown one only from a user who says so.
 */
final class HostKeyCheck implements HostKeyVerifier {
  /** To sshj such a line is about every host but that one; it counts for none here. */
  private static final Pattern NEGATED = Pattern.compile("(@\\S+ )?\\S*!");

  private static final String REVOKED = "@revoked";

  private final HostConfig config;
  private final String login;
  private final Optional<UserAnswers> user;
  private final List<OpenSSHKnownHosts> files = new ArrayList<>();

  private volatile Optional<MachineFailure> failure = Optional.empty();

  HostKeyCheck(HostConfig config, String login, Optional<UserAnswers> user) throws IOException {
    this.config = config;
    this.login = login;
    this.user = user;
    for (Path file : config.knownHosts()) {
      try {
        files.add(new OpenSSHKnownHosts(file.toFile()));
      } catch (IllegalArgumentException unreadable) {
        throw new IOException("cannot read " + file, unreadable);
      }
    }
  }

  /** Why the key was not taken, if it was not. */
  Optional<MachineFailure> failure() {
    return failure;
  }

  @Override
  public boolean verify(String host, int port, PublicKey key) {
    try {
      failure = refusal(key);
    } catch (IOException unusable) {
      failure = Optional.of(unknown(ConnectTrouble.reason(unusable)));
    }
    return failure.isEmpty();
  }

  private Optional<MachineFailure> refusal(PublicKey key) throws IOException {
    KeyType kind = KeyType.fromKey(key);
    String text = base64(new Buffer.PlainBuffer().putPublicKey(key).getCompactData());
    Optional<File> changed = Optional.empty();
    Optional<String> other = Optional.empty();
    boolean isKnown = false;
    for (OpenSSHKnownHosts file : files) {
      for (KnownHostEntry entry : file.entries()) {
        String line = entry.getLine();
        if (line.startsWith(REVOKED) && isNamed(line, key, text)) {
          return Optional.of(
              new MachineFailure.HostKeyChanged(
                  config.name(), "that key is revoked in " + file.getFile()));
        }
        if (line.startsWith(REVOKED)
            || NEGATED.matcher(line).lookingAt()
            || !entry.appliesTo(config.keyName())) {
          continue;
        }
        boolean isAuthority = line.startsWith("@");
        // sshj would take the key of an authority for the host's own.
        isKnown |=
            isAuthority == key instanceof Certificate<?>
                && entry.appliesTo(kind, config.keyName())
                && entry.verify(key);
        if (!isAuthority) {
          other = Optional.of(entry.getType() + " in " + file.getFile());
          if (entry.getType() == kind) {
            changed = Optional.of(file.getFile());
          }
        }
      }
    }
    if (isKnown) {
      return Optional.empty();
    }
    if (changed.isPresent()) {
      String plain = kind.toString().replaceFirst("^ssh-", "");
      return Optional.of(
          new MachineFailure.HostKeyChanged(
              config.name(), "the " + plain + " key it had is in " + changed.get()));
    }
    if (key instanceof Certificate<?> || !isRight(kind, text)) {
      return Optional.of(
          unknown(
              other
                  .map(name -> "its host key is " + kind + "; what is known is " + name)
                  .orElse("its host key is in no known_hosts file")));
    }
    add(kind, text);
    return Optional.empty();
  }

  /** Whether a line has this key, or that of the authority which signed it. */
  private static boolean isNamed(String line, PublicKey key, String text) {
    return line.contains(text)
        || (key instanceof Certificate<?> certificate
            && line.contains(base64(certificate.getSignatureKey())));
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private MachineFailure unknown(String reason) {
    return new MachineFailure.HostKeyUnknown(config.name(), login, reason);
  }

  private boolean isRight(KeyType kind, String text) {
    return config.asksAboutKeys()
        && user.filter(answers -> answers.confirm(config.keyName(), kind, text)).isPresent();
  }

  /** From now on it is known; the folder and the file are the user's alone, as ssh makes them. */
  private void add(KeyType kind, String text) throws IOException {
    Path file = config.knownHosts().getFirst();
    Path folder = file.getParent();
    if (folder != null && !Files.isDirectory(folder)) {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    String before = Files.exists(file) ? Files.readString(file, StandardCharsets.ISO_8859_1) : "";
    String start = before.isEmpty() || before.endsWith("\n") ? "" : "\n";
    Files.writeString(
        file,
        start + config.keyName() + " " + kind + " " + text + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /** Kinds that are asked for first: the others would be unknown. */
  @Override
  public List<String> findExistingAlgorithms(String host, int port) {
    var algorithms = new ArrayList<String>();
    for (OpenSSHKnownHosts file : files) {
      // The name has its port already.
      algorithms.addAll(file.findExistingAlgorithms(config.keyName(), 22));
    }
    if (algorithms.contains(KeyType.RSA.toString())) {
      algorithms.addAll(List.of("rsa-sha2-512", "rsa-sha2-256"));
    }
    return algorithms;
  }
}
