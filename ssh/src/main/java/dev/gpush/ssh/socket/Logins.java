package dev.gpush.ssh.socket;

import dev.gpush.core.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;

/**
 * The logins in progress: a gateway does not hand over to another build in the middle of one, and
 * lets them in while it ends. Each counts for a limited time, so that a client that never logs in
 * keeps nobody from a new build. Thread-safe.
 */
public final class Logins implements SessionListener {
  private final Clock clock;
  private final Duration limit;

  /** Since when, in monotonic nanoseconds. */
  private final Map<Object, Long> started = new ConcurrentHashMap<>();

  /**
   * @param limit how long one counts
   */
  public Logins(Clock clock, Duration limit) {
    this.clock = clock;
    this.limit = limit;
  }

  @Override
  public void sessionCreated(Session session) {
    begins(session);
  }

  @Override
  public void sessionEvent(Session session, Event event) {
    if (event == Event.Authenticated) {
      ends(session);
    }
  }

  @Override
  public void sessionClosed(Session session) {
    ends(session);
  }

  void begins(Object connection) {
    started.put(connection, clock.nanos());
  }

  void ends(Object connection) {
    started.remove(connection);
  }

  public boolean areInProgress() {
    long now = clock.nanos();
    return started.values().stream().anyMatch(since -> now - since < limit.toNanos());
  }

  /** Whether this one began before that time and has not ended. */
  public boolean beganBefore(Object connection, long nanos) {
    Long since = started.get(connection);
    return since != null && since - nanos < 0;
  }
}
