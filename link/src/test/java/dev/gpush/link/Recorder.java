package dev.gpush.link;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

/** Collects what happened and waits, with a deadline, until enough of it has. */
final class Recorder<T> {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final List<T> all = new ArrayList<>();

  /** Looks until it holds: what happens in another process cannot tell us. */
  static void until(String what, Callable<Boolean> holds) throws Exception {
    long start = System.nanoTime();
    while (!holds.call()) {
      if (System.nanoTime() - start > DEADLINE.toNanos()) {
        throw new AssertionError("not within " + DEADLINE.toSeconds() + " s: " + what);
      }
      LockSupport.parkNanos(LOOK_AGAIN.toNanos());
    }
  }

  void add(T item) {
    lock.lock();
    try {
      all.add(item);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  List<T> all() {
    lock.lock();
    try {
      return List.copyOf(all);
    } finally {
      lock.unlock();
    }
  }

  /** The first item of this kind, once there is one. */
  T await(Predicate<T> wanted) throws InterruptedException {
    return await(1, wanted).getFirst();
  }

  /** All items of this kind, once there are so many. */
  List<T> await(int count, Predicate<T> wanted) throws InterruptedException {
    lock.lock();
    try {
      long left = TimeUnit.SECONDS.toNanos(DEADLINE.toSeconds());
      while (true) {
        List<T> found = all.stream().filter(wanted).toList();
        if (found.size() >= count) {
          return found;
        }
        if (left <= 0) {
          throw new AssertionError("waited " + DEADLINE + " for " + count + "; had " + all);
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
