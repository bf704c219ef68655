package dev.gpush.gateway.ssh;

import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;

/**
 * Bounds the connections that have not logged in: one too many ends the oldest. Refusing the
 * newest, as sshd may do, would let a few hundred idle connections keep everybody out; a login
 * takes a fraction of a second, so the oldest is hardly ever a person's.
 */
final class Arrivals implements SessionListener {
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock: in the order of arrival
  private final Set<Session> strangers = new LinkedHashSet<>();

  @Override
  public void sessionCreated(Session session) {
    Optional<Session> oldest = Optional.empty();
    lock.lock();
    try {
      strangers.add(session);
      if (strangers.size() > Limits.UNAUTHENTICATED) {
        oldest = Optional.of(strangers.iterator().next());
        strangers.remove(oldest.orElseThrow());
      }
    } finally {
      lock.unlock();
    }
    oldest.ifPresent(session1 -> session1.close(true));
  }

  @Override
  public void sessionEvent(Session session, Event event) {
    if (event == Event.Authenticated) {
      forget(session);
    }
  }

  @Override
  public void sessionClosed(Session session) {
    forget(session);
  }

  private void forget(Session session) {
    lock.lock();
    try {
      strangers.remove(session);
    } finally {
      lock.unlock();
    }
  }
}
