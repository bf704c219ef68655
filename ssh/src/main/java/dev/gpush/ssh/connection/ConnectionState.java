package dev.gpush.ssh.connection;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.session.Session;

/** The state of one connection beside its channels; kept with SSHD's session. */
public final class ConnectionState {
  private static final AttributeKey<ConnectionState> KEY = new AttributeKey<>();

  private final AtomicBoolean allowsSessions = new AtomicBoolean(true);
  private final Replies replies = new Replies();
  private final Listeners listeners = new Listeners();

  public static ConnectionState of(Session session) {
    return session.computeAttributeIfAbsent(
        KEY,
        _ -> {
          var state = new ConnectionState();
          session.addCloseFutureListener(_ -> state.listeners.closeAll());
          return state;
        });
  }

  /** False once the client has announced that it opens no more of them; forwarding continues. */
  public boolean allowsSessions() {
    return allowsSessions.get();
  }

  public void noMoreSessions() {
    allowsSessions.set(false);
  }

  public Replies replies() {
    return replies;
  }

  public Listeners listeners() {
    return listeners;
  }
}
