package dev.gpush.sync.watch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * For file systems and machines without events: everything has to be looked at now and then. It
 * reports nothing by itself.
 */
final class ScanningWatcher implements TreeWatcher {
  private final String reason;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition woken = lock.newCondition();

  // guarded by lock
  private boolean isWoken;

  ScanningWatcher(String reason) {
    this.reason = reason;
  }

  @Override
  public void watch(Path folder) {}

  @Override
  public void forget(Path folder) {}

  @Override
  public Hints await(Duration limit) throws InterruptedException {
    long left = limit.toNanos();
    lock.lockInterruptibly();
    try {
      while (!isWoken && left > 0) {
        left = woken.awaitNanos(left);
      }
      isWoken = false;
      return Hints.none();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isCalm() {
    return false; // nobody knows
  }

  @Override
  public void dealtWith() {}

  @Override
  public void wake() {
    lock.lock();
    try {
      isWoken = true;
      woken.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public Optional<String> lacking() {
    return Optional.of(reason);
  }

  @Override
  public void close() {
    wake();
  }
}
