package dev.gpush.core.task;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Work that {@link Tasks} runs on its own thread, and its result. Thread-safe.
 *
 * <p>{@link #get} throws a failure of the work as it is, every time. Work that was interrupted, by
 * {@link #cancel} or by the end of its group, has no result: get() throws InterruptedException.
 */
public final class Task<T, E extends Exception> {
  private final Work<T, E> work;
  private final Consumer<? super Task<T, E>> whenEnded;
  private final Thread thread;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean isCancelled;

  /** Set before the latch opens, read after it. */
  private volatile Outcome<T> outcome = new Outcome.Interrupted<>(Optional.empty());

  private sealed interface Outcome<T> {
    record Done<T>(T result) implements Outcome<T> {}

    record Failed<T>(Throwable cause) implements Outcome<T> {}

    /** Without a cause when the work never started. */
    record Interrupted<T>(Optional<InterruptedException> cause) implements Outcome<T> {}
  }

  /**
   * @param kind makes the thread, which is not started here
   * @param whenEnded called on that thread
   */
  Task(Thread.Builder kind, Work<T, E> work, Consumer<? super Task<T, E>> whenEnded) {
    this.work = work;
    this.whenEnded = whenEnded;
    this.thread = kind.unstarted(this::run);
  }

  Thread thread() {
    return thread;
  }

  private void run() {
    if (!isCancelled) {
      outcome = outcome();
    }
    end();
  }

  private void end() {
    ended.countDown();
    whenEnded.accept(this);
  }

  private Outcome<T> outcome() {
    try {
      return new Outcome.Done<>(work.run());
    } catch (InterruptedException stop) {
      return new Outcome.Interrupted<>(Optional.of(stop));
    } catch (Throwable failure) {
      return new Outcome.Failed<>(failure);
    }
  }

  /** Ends it without running it: its group is closed. */
  void refuse() {
    end();
  }

  /** What it threw, if it has ended and was not interrupted. */
  Optional<Throwable> failure() {
    return outcome instanceof Outcome.Failed<T>(var cause) ? Optional.of(cause) : Optional.empty();
  }

  /** Waits for the result. */
  public T get() throws E, InterruptedException {
    if (!isDone()) {
      ended.await();
    }
    return result();
  }

  /**
   * Waits for the result, up to the limit. The work continues after that.
   *
   * @throws TimeoutException when the limit was reached
   */
  public T get(Duration limit) throws E, InterruptedException, TimeoutException {
    if (!isDone() && !ended.await(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS)) {
      throw new TimeoutException(thread.getName() + " after " + DurationText.of(limit));
    }
    return result();
  }

  private T result() throws E, InterruptedException {
    return switch (outcome) {
      case Outcome.Done<T>(var result) -> result;
      case Outcome.Interrupted<T>(var cause) -> {
        var stop = new InterruptedException(thread.getName() + " was interrupted");
        cause.ifPresent(stop::initCause);
        throw stop;
      }
      case Outcome.Failed<T>(var cause) -> throw checked(cause);
    };
  }

  @SuppressWarnings("unchecked") // Work throws E, or what is not checked.
  private E checked(Throwable cause) {
    return switch (cause) {
      case RuntimeException failure -> throw failure;
      case Error error -> throw error;
      default -> (E) cause;
    };
  }

  /** Whether it has ended, with a result or without. */
  public boolean isDone() {
    return ended.getCount() == 0;
  }

  /** Interrupts it; work that has not started yet never will. Does not wait for its end. */
  public void cancel() {
    isCancelled = true;
    thread.interrupt();
  }

  /**
   * Waits until it has ended, even if the waiting thread is interrupted; its interrupt flag is then
   * set again.
   */
  public void join() {
    boolean isEnded = false;
    while (!isEnded) {
      isEnded = join(Duration.ofDays(1));
    }
  }

  /**
   * As {@link #join()}, up to the limit.
   *
   * @return whether it has ended
   */
  public boolean join(Duration limit) {
    Clock clock = Clock.system();
    long end = clock.nanos() + limit.toNanos();
    boolean isInterrupted = false;
    boolean isOver = false;
    while (!isOver) {
      try {
        isOver = isDone() || !ended.await(end - clock.nanos(), TimeUnit.NANOSECONDS);
      } catch (InterruptedException stop) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
    return isDone();
  }

  /**
   * Waits for the end of its thread, up to the limit.
   *
   * @return whether the thread has ended
   */
  boolean awaitThread(Duration limit) throws InterruptedException {
    // A refused task's thread is never started.
    return thread.getState() == Thread.State.NEW || thread.join(limit);
  }
}
