package dev.gpush.gateway.session.live;

import dev.gpush.core.talk.Talk;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one command at a time change a session, in the order in which they came. A turn belongs to
 * no thread: recovery takes it before its thread exists, and passes it to a request that waits for
 * nodes. Such a request can be joined instead of waited for.
 */
public final class TurnQueue {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock: waiting, isTaken, isJoinable, doing
  private final Deque<Object> waiting = new ArrayDeque<>();
  private boolean isTaken;
  private boolean isJoinable;
  private String doing = "";

  /** Closing it gives the turn to the next command; closing it again does nothing. */
  public interface Turn extends AutoCloseable {
    @Override
    void close();
  }

  /** Waits for the turn; the command that has it is named while waiting. */
  Turn take(String what, String session, Talk talk) throws InterruptedException {
    return take(what, session, talk, false)
        .orElseThrow(() -> new IllegalStateException("nothing was to be joined"));
  }

  /** As {@link #take}; empty as soon as the holder of the turn can be joined. */
  Optional<Turn> takeOrJoin(String what, String session, Talk talk) throws InterruptedException {
    return take(what, session, talk, true);
  }

  private Optional<Turn> take(String what, String session, Talk talk, boolean joins)
      throws InterruptedException {
    Optional<Turn> free = tryTake(what);
    if (free.isPresent() || (joins && isJoinable())) {
      return free;
    }
    try (Talk.Step _ = talk.step("waiting for " + holder() + " of " + session)) {
      return await(what, joins);
    }
  }

  private Optional<Turn> await(String what, boolean joins) throws InterruptedException {
    var place = new Object();
    lock.lock();
    try {
      waiting.add(place);
      while (isTaken || !place.equals(waiting.peek())) {
        if (joins && isJoinable) {
          return Optional.empty();
        }
        changed.await();
      }
      return Optional.of(taken(what));
    } finally {
      waiting.remove(place);
      changed.signalAll();
      lock.unlock();
    }
  }

  /** The first turn of a session that no other command knows yet. */
  Turn takeFirst(String what) {
    return tryTake(what).orElseThrow(() -> new IllegalStateException("not new: " + what));
  }

  /** Empty while another has it, or waits for it. */
  Optional<Turn> tryTake(String what) {
    lock.lock();
    try {
      return isTaken || !waiting.isEmpty() ? Optional.empty() : Optional.of(taken(what));
    } finally {
      lock.unlock();
    }
  }

  // holds lock
  private Turn taken(String what) {
    isTaken = true;
    isJoinable = false;
    doing = what;
    var isOver = new AtomicBoolean();
    return () -> {
      if (!isOver.getAndSet(true)) {
        end();
      }
    };
  }

  private void end() {
    lock.lock();
    try {
      isTaken = false;
      isJoinable = false;
      doing = "";
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** From now to the end of the turn, its holder can be joined. */
  void joinable(String what) {
    lock.lock();
    try {
      if (!isTaken) {
        throw new IllegalStateException("nobody has the turn: " + what);
      }
      isJoinable = true;
      doing = what;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  boolean isJoinable() {
    lock.lock();
    try {
      return isJoinable;
    } finally {
      lock.unlock();
    }
  }

  boolean isTaken() {
    lock.lock();
    try {
      return isTaken;
    } finally {
      lock.unlock();
    }
  }

  /** How many commands wait for their turn. */
  int waiters() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the turn ends, up to the limit. */
  void await(Duration limit) {
    long left = limit.toNanos();
    lock.lock();
    try {
      while (isTaken && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
  }

  private String holder() {
    lock.lock();
    try {
      return doing.isEmpty() ? "another command" : doing;
    } finally {
      lock.unlock();
    }
  }
}
