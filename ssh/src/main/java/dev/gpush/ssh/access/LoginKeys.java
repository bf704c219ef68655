package dev.gpush.ssh.access;

import dev.gpush.core.time.Clock;
import dev.gpush.ssh.connection.ConnectionState;
import dev.gpush.ssh.connection.Login;
import dev.gpush.ssh.connection.Permissions;
import dev.gpush.ssh.socket.LoginListener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.sshd.common.config.keys.OpenSshCertificate;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;
import org.apache.sshd.server.auth.pubkey.PublickeyAuthenticator;
import org.apache.sshd.server.session.ServerSession;

/**
 * Accepts this home's own key, the authorized keys, and certificates by trusted authorities,
 * whatever the user name: names are looked up only after the key was proved, so other clients
 * cannot learn which sessions there are, not even from the time of an answer. Thread-safe.
 */
public final class LoginKeys implements PublickeyAuthenticator, SessionListener {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private static final Judgement NOT_LISTED = new Judgement.Refused("it is not an authorized key");

  private final PublicKey own;
  private final Supplier<AccessFiles> files;
  private final Clock clock;
  private final Map<Path, ParsedFile<List<KeyLine>>> keyFiles = new ConcurrentHashMap<>();
  private final Map<Path, ParsedFile<RevokedKeys>> revokedFiles = new ConcurrentHashMap<>();

  /**
   * @param files asked again for each login
   */
  public LoginKeys(PublicKey own, Supplier<AccessFiles> files, Clock clock) {
    this.own = own;
    this.files = files;
    this.clock = clock;
  }

  /**
   * Also called for keys that a client only asks about. The key of a login is the last one that was
   * judged before its success: SSHD judges a key again together with its signature.
   */
  @Override
  public boolean authenticate(String user, PublicKey key, ServerSession session) {
    var connection = ConnectionState.of(session);
    connection.offers(Optional.empty());
    switch (judge(key, address(session), clock.now())) {
      case Judgement.Accepted(var login) -> {
        connection.offers(Optional.of(login));
        return true;
      }
      case Judgement.Refused(var because) -> refuse(key, because);
      case Judgement.Unknown(var because) -> refuse(key, because);
    }
    LoginListener.refused(session);
    return false;
  }

  @Override
  public void sessionEvent(Session session, Event event) {
    if (event == Event.Authenticated) {
      ConnectionState.of(session).loggedIn();
    }
  }

  private static void refuse(PublicKey key, String because) {
    LOG.log(
        System.Logger.Level.DEBUG,
        () -> "refused ssh key " + KeyLine.fingerprint(key) + ": " + because);
  }

  private static InetAddress address(ServerSession session) {
    return session.getRemoteAddress() instanceof InetSocketAddress remote
        ? remote.getAddress()
        : InetAddress.getLoopbackAddress();
  }

  /** Whether a connection that is open may stay; its certificate may expire meanwhile. */
  Judgement judgeAgain(Login login, InetAddress from) {
    Instant when =
        login.offered() instanceof OpenSshCertificate certificate
            ? Instant.ofEpochSecond(certificate.getValidAfter())
            : clock.now();
    return judge(login.offered(), from, when);
  }

  Judgement judge(PublicKey key, InetAddress from, Instant now) {
    AccessFiles access = files.get();
    boolean isOwn = isSame(own, key);
    Optional<String> unreadable = Optional.empty();
    for (Path path : access.revokedKeys()) {
      switch (revoked(path).read()) {
        case ParsedFile.Content.Known<RevokedKeys>(var list) -> {
          if (list.has(key)) {
            return new Judgement.Refused("it is in " + path);
          }
        }
        case ParsedFile.Content.Missing<RevokedKeys> _ ->
            unreadable = Optional.of(path + " does not exist");
        case ParsedFile.Content.Unusable<RevokedKeys>(var because) ->
            unreadable = Optional.of(path + " cannot be used: " + because);
      }
    }
    if (isOwn) {
      return accepted(access.owner(), key, Permissions.ALL);
    }
    // As under sshd, nobody is accepted who might be revoked.
    return unreadable
        .<Judgement>map(Judgement.Unknown::new)
        .orElseGet(() -> judgeListed(access, key, from, now));
  }

  private Judgement judgeListed(AccessFiles access, PublicKey key, InetAddress from, Instant now) {
    ParsedFile.Content<List<KeyLine>> authorized = keys(access.authorizedKeys()).read();
    if (authorized instanceof ParsedFile.Content.Unusable<List<KeyLine>>(var because)) {
      return new Judgement.Unknown(access.authorizedKeys() + " cannot be used: " + because);
    }
    Judgement judged = NOT_LISTED;
    for (KeyLine line : lines(authorized)) {
      judged = better(judged, judgeLine(line, access, key, from, now));
    }
    if (key instanceof OpenSshCertificate certificate) {
      for (Path path : access.trustedUserCas()) {
        ParsedFile.Content<List<KeyLine>> authorities = keys(path).read();
        if (authorities instanceof ParsedFile.Content.Unusable<List<KeyLine>>(var because)) {
          judged = better(judged, new Judgement.Unknown(path + " cannot be used: " + because));
        }
        for (KeyLine line : lines(authorities)) {
          if (isSame(line.key(), certificate.getCaPubKey())) {
            judged =
                better(
                    judged,
                    certified(certificate, access.principals(), Permissions.ALL, from, now));
          }
        }
      }
    }
    return judged;
  }

  private static Judgement judgeLine(
      KeyLine line, AccessFiles access, PublicKey key, InetAddress from, Instant now) {
    KeyOptions options = line.options();
    boolean isAuthority =
        options.isAuthority()
            && key instanceof OpenSshCertificate certificate
            && isSame(line.key(), certificate.getCaPubKey());
    boolean isKey = !options.isAuthority() && isSame(line.key(), key);
    if (!isAuthority && !isKey) {
      return NOT_LISTED;
    }
    if (options.expires().filter(end -> !now.isBefore(end)).isPresent()) {
      return new Judgement.Refused("its expiry-time has passed");
    }
    if (options.from().filter(list -> !AddressPatterns.match(list, from)).isPresent()) {
      return new Judgement.Refused("it may not be used from " + from.getHostAddress());
    }
    if (isAuthority && key instanceof OpenSshCertificate certificate) {
      Set<String> principals =
          options.principals().isEmpty() ? access.principals() : options.principals();
      return certified(certificate, principals, options.permissions(), from, now);
    }
    return accepted(line.person(), key, options.permissions());
  }

  private static Judgement certified(
      OpenSshCertificate certificate,
      Set<String> principals,
      Permissions limits,
      InetAddress from,
      Instant now) {
    Permissions own = CertificateCheck.permissions(certificate);
    Permissions permissions = own.and(limits);
    // As for sshd: neither of two different commands is what both of them allow.
    if (!permissions.command().equals(limits.command().or(own::command))) {
      return new Judgement.Refused("its line and its certificate force different commands");
    }
    try {
      KeyLine.requireSound(certificate.getCertPubKey());
    } catch (IllegalArgumentException weak) {
      return new Judgement.Refused(String.valueOf(weak.getMessage()));
    }
    return CertificateCheck.refusal(certificate, principals, from, now)
        .<Judgement>map(Judgement.Refused::new)
        .orElseGet(() -> accepted(certificate.getId(), certificate, permissions));
  }

  private static Judgement accepted(String person, PublicKey key, Permissions permissions) {
    return new Judgement.Accepted(new Login(person, KeyLine.fingerprint(key), key, permissions));
  }

  /** The first that accepts counts; then one that cannot tell; then the last reason. */
  private static Judgement better(Judgement one, Judgement other) {
    return switch (one) {
      case Judgement.Accepted _ -> one;
      case Judgement.Unknown _ -> other instanceof Judgement.Accepted ? other : one;
      case Judgement.Refused _ -> other.equals(NOT_LISTED) ? one : other;
    };
  }

  private static boolean isSame(PublicKey one, PublicKey other) {
    return MessageDigest.isEqual(KeyLine.encoded(one), KeyLine.encoded(other));
  }

  private static List<KeyLine> lines(ParsedFile.Content<List<KeyLine>> content) {
    return content instanceof ParsedFile.Content.Known<List<KeyLine>>(var lines)
        ? lines
        : List.of();
  }

  private ParsedFile<List<KeyLine>> keys(Path path) {
    Function<byte[], List<KeyLine>> parser =
        bytes -> KeyLine.all(path.toString(), new String(bytes, StandardCharsets.UTF_8));
    return keyFiles.computeIfAbsent(path, _ -> new ParsedFile<>(path, parser));
  }

  private ParsedFile<RevokedKeys> revoked(Path path) {
    return revokedFiles.computeIfAbsent(path, _ -> new ParsedFile<>(path, RevokedKeys::parse));
  }
}
