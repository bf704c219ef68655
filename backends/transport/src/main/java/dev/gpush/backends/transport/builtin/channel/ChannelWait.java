package dev.gpush.backends.transport.builtin.channel;

import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Where threads wait for something about a channel to become true: it is looked at again whenever
 * the library has handled something of the channel.
 */
final class ChannelWait {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  void changed() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void await(BooleanSupplier condition) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!condition.getAsBoolean()) {
        // A change between the look and the wait needs the lock, so none is missed; the limit is
        // for changes that the library does not tell of.
        changed.await(1, TimeUnit.SECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The same for streams. */
  void awaitFor(BooleanSupplier condition) throws InterruptedIOException {
    try {
      await(condition);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw (InterruptedIOException) new InterruptedIOException("interrupted").initCause(stop);
    }
  }
}
