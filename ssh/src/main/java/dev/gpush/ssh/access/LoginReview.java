package dev.gpush.ssh.access;

import dev.gpush.core.text.CleanText;
import dev.gpush.ssh.connection.ConnectionState;
import dev.gpush.ssh.connection.Login;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.session.helpers.AbstractSession;

/**
 * Ends connections whose key may no longer log in. A key must be refused twice in a row: an editor
 * may empty a file before it writes it.
 */
public final class LoginReview {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private static final int LONGEST = 200;

  private final LoginKeys keys;

  public LoginReview(LoginKeys keys) {
    this.keys = keys;
  }

  /** Called every second or so, on one thread. */
  public void look(Iterable<AbstractSession> connections) {
    for (AbstractSession connection : connections) {
      Optional<Login> login = ConnectionState.of(connection).login();
      login.ifPresent(known -> look(connection, known));
    }
  }

  private void look(AbstractSession connection, Login login) {
    var state = ConnectionState.of(connection);
    InetAddress from =
        connection.getIoSession().getRemoteAddress() instanceof InetSocketAddress remote
            ? remote.getAddress()
            : InetAddress.getLoopbackAddress();
    switch (keys.judgeAgain(login, from)) {
      case Judgement.Accepted _ -> state.allow();
      case Judgement.Unknown _ -> {
        // A file that cannot be read says nothing about a key.
      }
      case Judgement.Refused(var because) -> {
        if (state.refuse()) {
          end(connection, login, because);
        }
      }
    }
  }

  private static void end(AbstractSession connection, Login login, String because) {
    LOG.log(
        System.Logger.Level.INFO,
        "ending an ssh connection of "
            + login.person()
            + " "
            + login.fingerprint()
            + ": "
            + because);
    String text = "your key " + login.fingerprint() + " may no longer log in: " + because;
    try {
      connection.disconnect(
          SshConstants.SSH2_DISCONNECT_BY_APPLICATION, CleanText.line(text, LONGEST));
    } catch (IOException gone) {
      connection.close(true);
    }
  }
}
