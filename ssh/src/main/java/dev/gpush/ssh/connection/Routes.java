package dev.gpush.ssh.connection;

/** Finds the node of a user name. Implemented by the sessions. */
@FunctionalInterface
public interface Routes {
  /**
   * Looks up {@code devbox}, {@code devbox-0} (the same) or {@code devbox-1}; {@link
   * NodeName#parse} parses it.
   *
   * <p>Called after the client's key was accepted, once for every channel, on its own virtual
   * thread: it may wait for a session that is just starting, and is interrupted when the gateway
   * ends or the client leaves. A link that is cut is a route too: streams opened on it wait.
   */
  Route route(String user) throws InterruptedException;
}
