package dev.gpush.ssh.connection;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.session.Session;

/** The state of one connection beside its channels; kept with SSHD's session. */
public final class ConnectionState {
  private static final AttributeKey<ConnectionState> KEY = new AttributeKey<>();

  private final AtomicBoolean allowsSessions = new AtomicBoolean(true);
  private final Replies replies = new Replies();
  private final Listeners listeners = new Listeners();
  private final AtomicBoolean isRefused = new AtomicBoolean();
  private volatile Optional<Login> offered = Optional.empty();
  private volatile Optional<Login> login = Optional.empty();

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

  /** The key that the client asks about or logs in with; empty when it may not. */
  public void offers(Optional<Login> key) {
    offered = key;
  }

  /** The client has logged in, with the key that it offered last. */
  public void loggedIn() {
    login = offered;
  }

  public Optional<Login> login() {
    return login;
  }

  public Permissions permissions() {
    return login.map(Login::permissions).orElse(Permissions.NONE);
  }

  /** Its key may still log in. */
  public void allow() {
    isRefused.set(false);
  }

  /** Its key may no longer log in; true when that was so the last time too. */
  public boolean refuse() {
    return isRefused.getAndSet(true);
  }

  public Replies replies() {
    return replies;
  }

  public Listeners listeners() {
    return listeners;
  }
}
