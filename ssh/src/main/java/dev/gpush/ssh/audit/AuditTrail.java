package dev.gpush.ssh.audit;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.CleanText;
import dev.gpush.core.time.Clock;
import dev.gpush.ssh.connection.ConnectionState;
import dev.gpush.ssh.connection.Login;
import dev.gpush.ssh.socket.SocketServices;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.PublicKey;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.channel.Channel;
import org.apache.sshd.common.channel.ChannelListener;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;
import org.apache.sshd.server.auth.pubkey.PublickeyAuthenticator;
import org.apache.sshd.server.session.ServerSession;

/**
 * Hears of logins, channels and their ends from SSHD, and writes a record of each. Records of one
 * connection share its id. Thread-safe; nothing here blocks.
 */
public final class AuditTrail implements SessionListener, ChannelListener {
  private static final AttributeKey<AuditTrail> KEY = new AttributeKey<>();
  private static final AttributeKey<PublicKey> OFFERED = new AttributeKey<>();
  private static final AttributeKey<Long> LOGGED_IN = new AttributeKey<>();

  /** A user name or version from a client. */
  private static final int LONGEST = 100;

  private final AuditFile file;
  private final AuditDetail detail;
  private final Clock clock;
  private final Map<Channel, Long> open = new ConcurrentHashMap<>();

  public AuditTrail(AuditFile file, AuditDetail detail, Clock clock) {
    this.file = file;
    this.detail = detail;
    this.clock = clock;
  }

  /** Remembers the key that was offered last: its signature is what logs the client in. */
  public static PublickeyAuthenticator remembering(PublickeyAuthenticator keys) {
    return new PublickeyAuthenticator() {
      @Override
      public boolean authenticate(String user, PublicKey key, ServerSession session) {
        session.setAttribute(OFFERED, key);
        return keys.authenticate(user, key, session);
      }
    };
  }

  /** How much is recorded of this connection. */
  public static AuditDetail detail(Session session) {
    AuditTrail trail = session.getAttribute(KEY);
    return trail == null ? AuditDetail.NONE : trail.detail;
  }

  /** A channel has begun, and its client may use it. Nothing is recorded where nothing listens. */
  public static void begins(AuditedChannel channel) {
    AuditTrail trail = channel.getSession().getAttribute(KEY);
    if (trail != null) {
      trail.recordBegin(channel);
    }
  }

  // ---- connections

  @Override
  public void sessionCreated(Session session) {
    session.setAttribute(KEY, this);
  }

  @Override
  public void sessionEvent(Session session, Event event) {
    if (event == Event.Authenticated) {
      session.setAttribute(LOGGED_IN, clock.nanos());
      file.write(
          of(session, "login")
              .with("client", Json.of(clean(session.getClientVersion())))
              .with("person", Json.of(person(session))));
    }
  }

  @Override
  public void sessionClosed(Session session) {
    Long since = session.getAttribute(LOGGED_IN);
    if (since != null) {
      file.write(of(session, "logout").with("seconds", seconds(since)));
    } else if (session.getAttribute(OFFERED) != null) {
      // A connection that offers no key is a probe, as ssh_wake's own: there is nobody to name.
      file.write(
          of(session, "login-failed").with("client", Json.of(clean(session.getClientVersion()))));
    }
  }

  // ---- channels

  private void recordBegin(AuditedChannel channel) {
    if (open.putIfAbsent(channel, clock.nanos()) == null) {
      file.write(of(channel, "begin"));
    }
  }

  @Override
  public void channelClosed(Channel channel, Throwable reason) {
    Long since = open.remove(channel);
    if (since != null && channel instanceof AuditedChannel audited) {
      file.write(
          of(audited, "end")
              .with("up_bytes", Json.of(audited.bytesUp()))
              .with("down_bytes", Json.of(audited.bytesDown()))
              .with("seconds", seconds(since)));
    }
  }

  private Json.Obj of(AuditedChannel channel, String event) {
    Json.Obj record =
        of(channel.getSession(), event).with("channel", Json.of(channel.getChannelId()));
    for (var field : channel.purpose().fields().entrySet()) {
      record = record.with(field.getKey(), field.getValue());
    }
    return record;
  }

  private Json.Obj of(Session session, String event) {
    Json.Obj record =
        Json.object(
            "event",
            event,
            "connection",
            connection(session),
            "from",
            address(session.getIoSession().getRemoteAddress()),
            "node",
            node(session));
    Optional<String> key =
        ConnectionState.of(session)
            .login()
            .map(Login::fingerprint)
            .or(
                () ->
                    Optional.ofNullable(session.getAttribute(OFFERED))
                        .map(KeyUtils::getFingerPrint));
    return key.isEmpty() ? record : record.with("key", Json.of(key.orElseThrow()));
  }

  /** Which connection this is, also among those of other gateways of the home. */
  public static String connection(Session session) {
    String process = Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
    return process + "-" + session.getIoSession().getId();
  }

  /** The name that the client gave as its user. */
  public static String node(Session session) {
    return clean(session.getUsername());
  }

  public static String person(Session session) {
    return ConnectionState.of(session).login().map(Login::person).orElse("");
  }

  private Json seconds(long since) {
    return Json.of(Duration.ofNanos(clock.nanos() - since).toSeconds());
  }

  private static String address(SocketAddress address) {
    return address instanceof InetSocketAddress remote && remote.getPort() != SocketServices.NO_PORT
        ? remote.getAddress().getHostAddress() + ":" + remote.getPort()
        : "socket";
  }

  private static String clean(String text) {
    return CleanText.line(Optional.ofNullable(text).orElse(""), LONGEST);
  }
}
