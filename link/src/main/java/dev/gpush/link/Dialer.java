package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Opens the pipes of a link, one after the other with growing pauses, and one beside a pipe that is
 * silent: the old one goes on until the new one is open, because it may be the only one that can be
 * had.
 */
final class Dialer {
  private final Link link;
  private final PipeSource pipes;
  private final Tasks tasks;
  private final Clock clock;
  private final RandomGenerator random;
  private final LinkTiming timing;
  private final Condition changed;

  /** Of the reading thread. */
  private long pauseNanos;

  // guarded by the link's lock
  private Optional<String> ending = Optional.empty();
  private Optional<Pipe> spare = Optional.empty();
  private boolean hurried;

  Dialer(
      Link link,
      PipeSource pipes,
      Tasks tasks,
      Clock clock,
      RandomGenerator random,
      LinkTiming timing) {
    this.link = link;
    this.pipes = pipes;
    this.tasks = tasks;
    this.clock = clock;
    this.random = random;
    this.timing = timing;
    this.changed = link.newCondition();
    this.pauseNanos = timing.firstPause().toNanos();
  }

  /** Whoever opens or pauses does not wait any longer. The lock is held. */
  void hurry() {
    hurried = true;
    changed.signalAll();
  }

  /** No pipe is wanted any more; the first reason stays. The lock is held. */
  void end(String reason) {
    if (ending.isEmpty()) {
      ending = Optional.of(reason);
    }
    changed.signalAll();
  }

  /** The lock is held. */
  Optional<String> ending() {
    return ending;
  }

  /** Whether the pipe that was just opened is not wanted. The lock is held. */
  boolean isTooLate() {
    return hurried || ending.isPresent();
  }

  /**
   * Opens a pipe; empty when it is not wanted any more.
   *
   * @param limit how long that may take
   */
  Optional<Pipe> open(PipeSource.Attempt attempt, Duration limit)
      throws IOException, InterruptedException {
    Optional<Pipe> ready = takeSpare();
    if (ready.isPresent()) {
      return ready;
    }
    Optional<Opening> begun = begin(attempt, this::signal);
    if (begun.isEmpty()) {
      return Optional.empty();
    }
    Opening opening = begun.orElseThrow();
    try {
      return await(opening, limit) ? Optional.of(opening.pipe()) : Optional.empty();
    } finally {
      opening.abandon();
    }
  }

  /** Empty when no pipe is wanted any more: then there may be no threads either. */
  private Optional<Opening> begin(PipeSource.Attempt attempt, Runnable done) {
    link.lock();
    try {
      return ending.isPresent()
          ? Optional.empty()
          : Optional.of(new Opening(tasks, pipes, attempt, done));
    } finally {
      link.unlock();
    }
  }

  private Optional<Pipe> takeSpare() {
    link.lock();
    try {
      hurried = false;
      Optional<Pipe> ready = spare;
      spare = Optional.empty();
      return ready;
    } finally {
      link.unlock();
    }
  }

  private void signal() {
    link.lock();
    try {
      changed.signalAll();
    } finally {
      link.unlock();
    }
  }

  /** False when it is not wanted any more or took too long. */
  private boolean await(Opening opening, Duration limit) throws InterruptedException {
    return waits(
            limit.toNanos(),
            () -> opening.isDone() || isTooLate(),
            // It was begun in another network; afresh is faster than waiting for it to fail.
            this::hurry)
        && opening.isDone();
  }

  /** Waits until it holds or this time is over; tells whether it holds. */
  private boolean waits(long nanos, BooleanSupplier condition, Runnable jumped)
      throws InterruptedException {
    var wakes = new WakeWatch(clock);
    link.lockInterruptibly();
    try {
      long left = nanos;
      while (left > 0 && !condition.getAsBoolean()) {
        long part = Math.min(left, WakeWatch.LOOK_NANOS);
        left = left - part + changed.awaitNanos(part);
        if (wakes.hasJumped()) {
          jumped.run();
        }
      }
      return condition.getAsBoolean();
    } finally {
      link.unlock();
    }
  }

  /**
   * Waits before the next pipe, unless there is a reason not to.
   *
   * @param usefulNanos how long the last pipe lived, if it carried something: the pauses start
   *     afresh, and what it lived counts as waited. Being greeted is not enough, or an agent that
   *     ends every pipe at once would be called five times a second
   */
  void pause(Optional<Long> usefulNanos) throws InterruptedException {
    waits(nextPause(usefulNanos), () -> isTooLate() || spare.isPresent(), this::hurry);
  }

  private long nextPause(Optional<Long> usefulNanos) {
    pauseNanos = usefulNanos.isPresent() ? timing.firstPause().toNanos() : longer(pauseNanos);
    return jittered(pauseNanos) - usefulNanos.orElse(0L);
  }

  private long longer(long pause) {
    return Math.min(2 * pause, timing.lastPause().toNanos());
  }

  /** So that a thousand links do not come back in the same moment. */
  private long jittered(long pause) {
    return (long) (pause * (0.5 + random.nextDouble() / 2));
  }

  /**
   * Opens a pipe beside one that is silent, until there is one, or the silent one has ended or
   * answers. Called by the thread that watches it.
   *
   * @param tell why there is no other pipe yet
   * @return whether the pipe answers again
   */
  boolean replace(PipeSession silent, Consumer<LinkState> tell) throws InterruptedException {
    long pause = timing.firstPause().toNanos();
    while (true) {
      PipeSession.Word word = openBeside(silent, tell);
      if (word == PipeSession.Word.NONE) {
        word = silent.awaitWord(jittered(pause), () -> false);
        pause = longer(pause);
      }
      if (word != PipeSession.Word.NONE) {
        return word == PipeSession.Word.ANSWERED;
      }
    }
  }

  private PipeSession.Word openBeside(PipeSession silent, Consumer<LinkState> tell)
      throws InterruptedException {
    Optional<Opening> begun = begin(PipeSource.Attempt.AGAIN, silent::poke);
    if (begun.isEmpty()) {
      return PipeSession.Word.ENDED;
    }
    Opening opening = begun.orElseThrow();
    try {
      PipeSession.Word word = silent.awaitWord(timing.opening().toNanos(), opening::isDone);
      if (word == PipeSession.Word.NONE && opening.isDone()) {
        keep(opening.pipe());
        silent.cut(LinkState.Cut.SILENCE);
        return PipeSession.Word.ENDED;
      }
      return word;
    } catch (IOException | GpushException failed) {
      tell.accept(new LinkState.Cut(reason(failed)));
      return PipeSession.Word.NONE;
    } finally {
      opening.abandon();
    }
  }

  private void keep(Pipe pipe) {
    link.lock();
    try {
      spare = Optional.of(pipe);
    } finally {
      link.unlock();
    }
  }

  /** After the last pipe. */
  void close() {
    takeSpare().ifPresent(Opening::close);
  }

  /** For people, who may see it for as long as it lasts. */
  static String reason(Exception failed) {
    return failed instanceof GpushException told && told.failure() instanceof AgentFailure.NotThere
        ? LinkState.Cut.NO_AGENT
        : String.valueOf(failed.getMessage());
  }
}
