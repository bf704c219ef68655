package dev.gpush.backends.transport.builtin;

import com.hierynomus.sshj.userauth.certificate.Certificate;
import dev.gpush.backends.transport.builtin.config.HostConfig;
import dev.gpush.backends.transport.builtin.config.KnownHosts;
import dev.gpush.backends.transport.builtin.config.KnownHosts.Verdict;
import dev.gpush.core.failure.MachineFailure;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import net.schmizz.sshj.common.Buffer;
import net.schmizz.sshj.common.KeyType;
import net.schmizz.sshj.transport.verification.HostKeyVerifier;

/** Whether the host has the key it should have; a changed one is never taken, whoever says so. */
final class HostKeyCheck implements HostKeyVerifier {
  private static final List<String> CERTIFICATES =
      List.of(
          "ssh-ed25519-cert-v01@openssh.com",
          "ecdsa-sha2-nistp256-cert-v01@openssh.com",
          "ecdsa-sha2-nistp384-cert-v01@openssh.com",
          "ecdsa-sha2-nistp521-cert-v01@openssh.com");

  private final HostConfig config;
  private final String login;
  private final KnownHosts known;
  private final SecureRandom random;

  private volatile Optional<MachineFailure> failure = Optional.empty();
  private volatile Optional<Stranger> stranger = Optional.empty();

  HostKeyCheck(HostConfig config, String login, SecureRandom random) throws IOException {
    this.config = config;
    this.login = login;
    this.known = KnownHosts.read(config.knownHosts(), config.keyName());
    this.random = random;
  }

  /** A key that nobody knows, and a person may be asked about. */
  record Stranger(String kind, String key) {
    /** As ssh prints it. */
    String fingerprint() {
      try {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(Base64.getDecoder().decode(key));
        return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(hash);
      } catch (NoSuchAlgorithmException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  @Override
  public boolean verify(String name, int port, PublicKey key) {
    Optional<String> authority =
        key instanceof Certificate<?> certificate
            ? Optional.of(text(certificate.getSignatureKey()))
            : Optional.empty();
    String blob = text(new Buffer.PlainBuffer().putPublicKey(key).getCompactData());
    String kind = KeyType.fromKey(key).toString();
    String machine = config.destination().toString();
    return switch (known.verdict(kind, blob, authority)) {
      case Verdict.Right _ -> true;
      case Verdict.Wrong(var reason) -> {
        failure = Optional.of(new MachineFailure.HostKeyChanged(machine, reason));
        yield false;
      }
      case Verdict.OtherKind(var other) -> {
        refuse(machine, kind, blob, "its host key is " + kind + "; what is known is " + other);
        yield false;
      }
      case Verdict.Unknown _ -> {
        if (config.unknown() == HostConfig.Unknown.ACCEPT && authority.isEmpty()) {
          yield isAdded(kind, blob);
        }
        refuse(machine, kind, blob, "its host key is in no known_hosts file");
        yield false;
      }
    };
  }

  private static String text(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }

  private void refuse(String machine, String kind, String blob, String reason) {
    failure = Optional.of(new MachineFailure.HostKeyUnknown(machine, login, reason));
    if (config.unknown() != HostConfig.Unknown.REFUSE && !kind.contains("-cert-")) {
      stranger = Optional.of(new Stranger(kind, blob));
    }
  }

  private boolean isAdded(String kind, String blob) {
    try {
      add(new Stranger(kind, blob));
      return true;
    } catch (IOException notWritten) {
      String reason = ConnectTrouble.reason(notWritten);
      String machine = config.destination().toString();
      failure = Optional.of(new MachineFailure.HostKeyUnknown(machine, login, reason));
      return false;
    }
  }

  /** From now on it is known. */
  void add(Stranger seen) throws IOException {
    List<java.nio.file.Path> files = config.knownHosts();
    if (files.isEmpty()) {
      throw new IOException("there is no known_hosts file to write it to");
    }
    known.add(files.getFirst(), seen.kind(), seen.key(), config.isHashed(), random);
  }

  /** Kinds that are asked for first: the others would be unknown. */
  @Override
  public List<String> findExistingAlgorithms(String name, int port) {
    var algorithms = new ArrayList<String>();
    if (known.hasAuthority()) {
      algorithms.addAll(CERTIFICATES);
    }
    for (String kind : known.kinds()) {
      if (kind.equals("ssh-rsa")) {
        algorithms.addAll(List.of("rsa-sha2-512", "rsa-sha2-256"));
      } else {
        algorithms.add(kind);
      }
    }
    return algorithms;
  }

  /** Why the key was not taken, if it was not. */
  Optional<MachineFailure> failure() {
    return failure;
  }

  Optional<Stranger> stranger() {
    return stranger;
  }
}
