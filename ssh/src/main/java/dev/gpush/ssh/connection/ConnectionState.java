package dev.gpush.ssh.connection;

import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.session.Session;

/** The state of one connection beside its channels; kept with SSHD's session. */
public final class ConnectionState {
  private static final AttributeKey<ConnectionState> KEY = new AttributeKey<>();

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

  public Replies replies() {
    return replies;
  }

  public Listeners listeners() {
    return listeners;
  }
}
