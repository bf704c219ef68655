package dev.gpush.ssh.access;

import dev.gpush.ssh.connection.Forwarding;
import dev.gpush.ssh.connection.Permissions;
import java.net.InetAddress;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.sshd.common.config.keys.OpenSshCertificate;

/**
 * Whether a certificate by a trusted authority lets its holder in, as sshd decides it. SSHD has
 * checked the authority's signature before; it knows neither principals nor permissions, and
 * refuses {@code force-command}.
 */
final class CertificateCheck {
  private static final Set<String> CRITICAL = Set.of("force-command", "source-address");

  private CertificateCheck() {}

  /** Why it is refused; empty when it is not. */
  static Optional<String> refusal(
      OpenSshCertificate certificate, Set<String> principals, InetAddress from, Instant now) {
    Map<String, String> critical = certificate.getCriticalOptionsMap();
    Optional<String> unknown =
        critical.keySet().stream().filter(name -> !CRITICAL.contains(name)).findFirst();
    if (certificate.getType() != OpenSshCertificate.Type.USER) {
      return Optional.of("it is not a user certificate");
    }
    if (!OpenSshCertificate.isValidAt(certificate, now)) {
      return Optional.of("it has expired, or is not valid yet");
    }
    if (unknown.isPresent()) {
      return Optional.of("its critical option " + unknown.orElseThrow() + " is not supported");
    }
    if (Collections.disjoint(certificate.getPrincipals(), principals)) {
      return Optional.of("none of its principals may log in here: " + certificate.getPrincipals());
    }
    return Optional.ofNullable(critical.get("source-address"))
        .filter(sources -> !AddressPatterns.match(sources, from))
        .map(_ -> "it may not be used from " + from.getHostAddress());
  }

  static Permissions permissions(OpenSshCertificate certificate) {
    Set<String> extensions = certificate.getExtensionsMap().keySet();
    var permissions =
        new Permissions(
            extensions.contains("permit-pty"),
            Forwarding.ALL.withAllowed(extensions.contains("permit-port-forwarding")),
            extensions.contains("permit-agent-forwarding"),
            Optional.empty());
    return Optional.ofNullable(certificate.getCriticalOptionsMap().get("force-command"))
        .map(permissions::withCommand)
        .orElse(permissions);
  }
}
