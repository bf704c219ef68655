package dev.gpush.ssh.connection;

import dev.gpush.core.task.Clock;
import dev.gpush.core.text.CleanText;
import dev.gpush.ssh.socket.SocketServices;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.channel.Channel;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;

/**
 * Log lines about connections: who logged in, was refused and left, and at DEBUG each channel.
 * Never what was in them, nor a command line: both may hold secrets.
 */
public final class ConnectionLog implements SessionListener {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private static final AttributeKey<String> REFUSED = new AttributeKey<>();
  private static final AttributeKey<Long> LOGGED_IN = new AttributeKey<>();

  /** A user name or version from a client. */
  private static final int LONGEST = 100;

  private final Clock clock;

  public ConnectionLog(Clock clock) {
    this.clock = clock;
  }

  /**
   * The client offered a key that may not log in; the last one is logged if it ends without a
   * login, because a client offers all the keys that it has.
   */
  public static void refused(Session session, String node, String fingerprint) {
    session.setAttribute(REFUSED, " node=" + clean(node) + " key=" + fingerprint);
  }

  /**
   * A channel has begun.
   *
   * @param purpose as key=value
   */
  public static void begins(Channel channel, String purpose) {
    LOG.log(
        System.Logger.Level.DEBUG,
        () ->
            "channel connection="
                + channel.getSession().getIoSession().getId()
                + " channel="
                + channel.getChannelId()
                + " "
                + CleanText.line(purpose, LONGEST));
  }

  @Override
  public void sessionEvent(Session session, Event event) {
    if (event == Event.Authenticated) {
      session.setAttribute(LOGGED_IN, clock.nanos());
      LOG.log(
          System.Logger.Level.INFO,
          "connected" + details(session) + " node=" + clean(session.getUsername()));
    }
  }

  @Override
  public void sessionClosed(Session session) {
    Long since = session.getAttribute(LOGGED_IN);
    String refused = session.getAttribute(REFUSED);
    if (since != null) {
      long seconds = Duration.ofNanos(clock.nanos() - since).toSeconds();
      LOG.log(
          System.Logger.Level.INFO,
          "ended connection=" + session.getIoSession().getId() + " seconds=" + seconds);
    } else if (refused != null) {
      LOG.log(System.Logger.Level.INFO, "refused" + details(session) + refused);
    }
  }

  private static String details(Session session) {
    return " connection="
        + session.getIoSession().getId()
        + " from="
        + address(session.getIoSession().getRemoteAddress())
        + " client="
        + clean(session.getClientVersion());
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
