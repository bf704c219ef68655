package dev.gpush.ssh.socket;

import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;

/**
 * The connections that have not logged in yet. With {@link #MOST} of them, further ones wait in the
 * kernel's queue until one has logged in or left, or the oldest is closed because it has had {@link
 * #TIME}. A gateway that ends, or hands over to another build, asks here whether logins have begun.
 * Thread-safe.
 */
public final class Logins implements SessionListener {
  /** More than a tool opens at once; each has a thread, buffers and three descriptors. */
  private static final int MOST = 512;

  /** What computing keys takes on a busy machine: a login that takes longer blocks nothing. */
  private static final Duration TIME = Duration.ofSeconds(10);

  private final Clock clock;
  private final int most;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ended = lock.newCondition();

  // guarded by lock; the oldest first
  private final Map<Object, Login> started = new LinkedHashMap<>();

  /**
   * @param since monotonic nanoseconds
   */
  private record Login(long since, Runnable end) {}

  public Logins(Clock clock) {
    this(clock, MOST);
  }

  Logins(Clock clock, int most) {
    this.clock = clock;
    this.most = most;
  }

  @Override
  public void sessionEvent(Session session, Event event) {
    if (event == Event.Authenticated) {
      end(session.getIoSession());
    }
  }

  /**
   * A connection was accepted.
   *
   * @param end closes it
   */
  void begin(Object connection, Runnable end) {
    lock.lock();
    try {
      started.put(connection, new Login(clock.nanos(), end));
    } finally {
      lock.unlock();
    }
  }

  /** It has logged in, or is gone. */
  void end(Object connection) {
    lock.lock();
    try {
      started.remove(connection);
      ended.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until one more may begin; closes the oldest if that has had its time. */
  void awaitRoom() throws InterruptedException {
    overdue().ifPresent(Runnable::run);
  }

  private Optional<Runnable> overdue() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (started.size() >= most) {
        Map.Entry<Object, Login> oldest = started.entrySet().iterator().next();
        long left = TIME.toNanos() - (clock.nanos() - oldest.getValue().since());
        if (left <= 0) {
          started.remove(oldest.getKey());
          return Optional.of(oldest.getValue().end());
        }
        ended.awaitNanos(left);
      }
      return Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  /** Whether there is a login that has not had its time. */
  public boolean areInProgress() {
    lock.lock();
    try {
      long now = clock.nanos();
      return started.values().stream().anyMatch(login -> now - login.since() < TIME.toNanos());
    } finally {
      lock.unlock();
    }
  }
}
