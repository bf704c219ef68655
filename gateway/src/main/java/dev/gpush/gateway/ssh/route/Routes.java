package dev.gpush.gateway.ssh.route;

/** Where a user name leads. Implemented by what knows the sessions. */
@FunctionalInterface
public interface Routes {
  /**
   * Looks up {@code devbox}, {@code devbox-0} (the same) or {@code devbox-1}; {@link
   * NodeName#parse} takes it apart.
   *
   * <p>Called after the client's key was accepted, once for every channel, on a virtual thread of
   * its own: it may wait for a session that is just coming up, and is interrupted when the gateway
   * ends. A link that is cut is a route all the same: what is opened on it waits.
   */
  Route route(String user) throws InterruptedException;
}
