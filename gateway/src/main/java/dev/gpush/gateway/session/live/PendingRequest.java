package dev.gpush.gateway.session.live;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.TracedTalk;
import dev.gpush.core.task.Tasks;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/**
 * A session that is being made, from the request to its first sync. It runs on a thread of the
 * gateway and has the session's turn: commands may follow it and stop following it, also by a
 * hangup. Only {@link #cancel} cancels it.
 */
public final class PendingRequest {
  private final SessionName name;
  private final SharedTalk talk;
  private final TracedTalk traced;
  private final CountDownLatch over = new CountDownLatch(1);

  // guarded by this: thread, isCancelled, outcome
  private Optional<Thread> thread = Optional.empty();
  private boolean isCancelled;
  private Outcome outcome = new Outcome.Left();

  /** Its outcome. */
  private sealed interface Outcome {
    record Ready() implements Outcome {}

    record Failed(RuntimeException cause) implements Outcome {}

    record Died(Error bug) implements Outcome {}

    /** The gateway ends: the request stays in its queue, for the next gateway. */
    record Left() implements Outcome {}
  }

  /** Makes the session; interrupted when the request is cancelled, and when the gateway ends. */
  @FunctionalInterface
  public interface Making {
    void make(PendingRequest request) throws InterruptedException;
  }

  /**
   * @param traced measures what it tells the other one
   */
  public PendingRequest(SessionName name, SharedTalk talk, TracedTalk traced) {
    this.name = name;
    this.talk = talk;
    this.traced = traced;
  }

  /** Starts; the turn is closed at its end, or here if it cannot start. */
  public void start(Tasks tasks, TurnQueue.Turn turn, Making work) {
    if (!tasks.start("up-" + name, () -> run(turn, work))) {
      end(turn);
    }
  }

  private void run(TurnQueue.Turn turn, Making work) {
    try {
      begin();
      work.make(this);
      outcome(new Outcome.Ready());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (GpushException failed) {
      // An interrupt may also appear as a failure, with the thread's flag set again.
      outcome(
          Thread.currentThread().isInterrupted() ? new Outcome.Left() : new Outcome.Failed(failed));
    } catch (RuntimeException bug) {
      outcome(new Outcome.Failed(bug));
      throw bug;
    } catch (Error bug) {
      outcome(new Outcome.Died(bug));
      throw bug;
    } finally {
      end(turn);
    }
  }

  private synchronized void begin() {
    thread = Optional.of(Thread.currentThread());
    if (isCancelled) {
      // The work still runs, interrupted, because it undoes the request.
      Thread.currentThread().interrupt();
    }
  }

  private void end(TurnQueue.Turn turn) {
    synchronized (this) {
      // Who cancels later interrupts nothing that is not this request.
      thread = Optional.empty();
    }
    turn.close();
    over.countDown();
    talk.end();
  }

  private synchronized void outcome(Outcome what) {
    outcome = what;
  }

  public SharedTalk talk() {
    return talk;
  }

  public TracedTalk traced() {
    return traced;
  }

  boolean isOver() {
    return over.getCount() == 0;
  }

  public synchronized boolean isReady() {
    return outcome instanceof Outcome.Ready;
  }

  public synchronized boolean isCancelled() {
    return isCancelled;
  }

  /** Gives it up: whatever was asked for is given back. Does not wait for that. */
  public synchronized void cancel() {
    isCancelled = true;
    thread.ifPresent(Thread::interrupt);
  }

  /** Waits until it has ended, even if the caller is interrupted. */
  public void awaitEnd() {
    boolean isInterrupted = false;
    while (true) {
      try {
        over.await();
        break;
      } catch (InterruptedException again) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Shows its progress until the session is ready, or until the caller may stop waiting.
   *
   * @return whether it is ready
   * @throws InterruptedException when the caller is interrupted, or the gateway ends
   */
  public boolean follow(Talk to, BooleanSupplier isEnough) throws InterruptedException {
    talk.follow(to, isEnough);
    if (!isOver()) {
      return false;
    }
    Outcome now;
    boolean isGivenUp;
    synchronized (this) {
      now = outcome;
      isGivenUp = isCancelled;
    }
    switch (now) {
      case Outcome.Ready() -> {
        return true;
      }
      case Outcome.Failed(GpushException failed) ->
          throw new GpushException(failed.failure(), failed);
      case Outcome.Failed(var bug) -> throw bug;
      case Outcome.Died(var bug) -> throw bug;
      case Outcome.Left() -> {
        if (isGivenUp) {
          throw new GpushException(new SessionFailure.GivenUp(name.text()));
        }
        throw new InterruptedException("the gateway ends");
      }
    }
  }
}
