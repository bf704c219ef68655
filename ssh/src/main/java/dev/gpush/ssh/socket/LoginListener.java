package dev.gpush.ssh.socket;

import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;

/** Reports to the {@link Entrance} that a client has logged in, so that the next one is served. */
public final class LoginListener implements SessionListener {
  @Override
  public void sessionEvent(Session session, Event event) {
    if (event == Event.Authenticated && session.getIoSession() instanceof SocketSession socket) {
      socket.isLoggedIn();
    }
  }

  /** A key was refused; a client that has several may log in with another one. */
  public static void refused(Session session) {
    if (session.getIoSession() instanceof SocketSession socket) {
      socket.hasFailed();
    }
  }
}
