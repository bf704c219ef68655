package dev.gpush.gateway.session.live;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.TracedTalk;
import dev.gpush.core.task.Tasks;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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

  /** True: ready. False: cancelled, or left in its queue for the next gateway. */
  private final CompletableFuture<Boolean> over = new CompletableFuture<>();

  // guarded by this: thread, isCancelled
  private Optional<Thread> thread = Optional.empty();
  private boolean isCancelled;

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
      end(turn, false, Optional.empty());
    }
  }

  private void run(TurnQueue.Turn turn, Making work) {
    boolean isReady = false;
    Optional<Throwable> failure = Optional.empty();
    try {
      begin();
      work.make(this);
      isReady = true;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (GpushException failed) {
      // An interrupt may also appear as a failure, with the thread's flag set again.
      failure = Optional.<Throwable>of(failed).filter(_ -> !Thread.currentThread().isInterrupted());
    } catch (RuntimeException | Error bug) {
      failure = Optional.of(bug);
      throw bug;
    } finally {
      end(turn, isReady, failure);
    }
  }

  private synchronized void begin() {
    thread = Optional.of(Thread.currentThread());
    if (isCancelled) {
      // The work still runs, interrupted, because it undoes the request.
      Thread.currentThread().interrupt();
    }
  }

  private void end(TurnQueue.Turn turn, boolean isReady, Optional<Throwable> failure) {
    synchronized (this) {
      // Who cancels later interrupts nothing that is not this request.
      thread = Optional.empty();
    }
    turn.close();
    failure.ifPresentOrElse(over::completeExceptionally, () -> over.complete(isReady));
    talk.end();
  }

  public SharedTalk talk() {
    return talk;
  }

  public TracedTalk traced() {
    return traced;
  }

  boolean isOver() {
    return over.isDone();
  }

  public boolean isReady() {
    return over.exceptionally(_ -> false).getNow(false);
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
    over.exceptionally(_ -> false).join();
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
    try {
      if (over.join()) {
        return true;
      }
    } catch (CompletionException failed) {
      switch (failed.getCause()) {
        case GpushException its -> throw new GpushException(its.failure(), its);
        case RuntimeException bug -> throw bug;
        case Error bug -> throw bug;
        case null, default -> throw failed;
      }
    }
    if (isCancelled()) {
      throw new GpushException(new SessionFailure.GivenUp(name.text()));
    }
    throw new InterruptedException("the gateway ends");
  }
}
