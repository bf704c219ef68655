package dev.gpush.core.task;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Says that something has changed, not what: a waiting thread reads the state again. Changes that
 * no thread waited for count as one, so there is never a backlog. Thread-safe.
 */
public final class ChangeSignal {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private long count;

  public ChangeSignal() {}

  /** Something has changed, and can be seen by now. */
  public void signal() {
    lock.lock();
    try {
      count++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** How many changes there were; asked for before the look. */
  public long count() {
    lock.lock();
    try {
      return count;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until there were more changes than that, or the limit is reached.
   *
   * @param pause waited in any case, so that many changes in a row are one
   */
  public void await(long seen, Duration pause, Duration limit) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = pause.toNanos();
      while (left > 0) {
        left = changed.awaitNanos(left);
      }
      left = limit.minus(pause).toNanos();
      while (count == seen && left > 0) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
