package dev.gpush.ssh.socket;

import dev.gpush.core.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;

/**
 * The connections that have not logged in. Their number is limited; beyond it the kernel queues new
 * ones until the oldest has had its time, and is closed. A gateway does not hand over to another
 * build in the middle of a login, and lets them in while it ends. Thread-safe.
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
   * @param end closes the connection
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

  /** Waits until one more may begin. */
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

  /** Whether one is, and has not taken too long. */
  public boolean areInProgress() {
    lock.lock();
    try {
      long now = clock.nanos();
      return started.values().stream().anyMatch(login -> now - login.since() < TIME.toNanos());
    } finally {
      lock.unlock();
    }
  }

  /** Whether this one began before that time and has not ended. */
  public boolean beganBefore(Object connection, long nanos) {
    lock.lock();
    try {
      return Optional.ofNullable(started.get(connection))
          .filter(login -> login.since() - nanos < 0)
          .isPresent();
    } finally {
      lock.unlock();
    }
  }
}
