package dev.gpush.core.task;

import dev.gpush.core.time.Clock;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A group of threads, virtual ones mostly, with one owner and one end: {@link #close} interrupts
 * all that still run and waits for them. A failure of a started task goes to the handler given at
 * the start; that of a forked one to those who wait for its {@link Task}. Thread-safe.
 *
 * <p>A closed group runs nothing more, and what is asked of it then ends as what ran in it did:
 * interrupted. {@link #start} returns false; the task of {@link #fork}, {@link #all} and {@link
 * #within} throw InterruptedException.
 *
 * <p>Where this class ends tasks, it interrupts them and waits for them, for a limited time: a
 * thread that does not answer is a bug, which the handler is told, but must not hang its owner.
 */
public final class Tasks implements AutoCloseable {
  /** Far longer than closing a connection takes that still exists. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final String name;
  private final Thread.UncaughtExceptionHandler handler;
  private final Duration patience;
  private final Clock clock = Clock.system();

  // guarded by this
  private final Set<Task<?, ?>> running = new HashSet<>();
  private boolean closed;

  /** What a started task does; being interrupted is one way to end. */
  @FunctionalInterface
  public interface Action {
    void run() throws InterruptedException;
  }

  /**
   * Ends what an interrupt does not: a read from a process, a write to a connection that is dead.
   */
  @FunctionalInterface
  public interface Abort {
    void run() throws IOException;
  }

  /**
   * @param patience how long interrupted threads may take to end, all together
   */
  Tasks(String name, Thread.UncaughtExceptionHandler handler, Duration patience) {
    this(name, handler, patience, false);
  }

  private Tasks(
      String name, Thread.UncaughtExceptionHandler handler, Duration patience, boolean closed) {
    this.name = name;
    this.handler = handler;
    this.patience = patience;
    this.closed = closed;
  }

  /**
   * A group whose threads are named {@code name/task}; failures nobody waits for go to the handler.
   */
  public static Tasks named(String name, Thread.UncaughtExceptionHandler handler) {
    return new Tasks(name, handler, PATIENCE);
  }

  /**
   * A group inside this one's naming and failure handling, with an end of its own; it is closed
   * from the beginning if this one is.
   */
  public Tasks group(String child) {
    return new Tasks(name + "/" + child, handler, patience, isClosed());
  }

  /**
   * Runs on a thread of its own until done or the group is closed.
   *
   * @return false when it will not run, because the group is closed
   */
  public boolean start(String task, Action work) {
    return start(Thread.ofVirtual(), task, work);
  }

  /**
   * As {@link #start}, on a thread of the system: for who reads or writes a pipe most of the time.
   * A virtual thread that blocks there costs a second thread for as long as it does.
   */
  public boolean startOnThread(String task, Action work) {
    return start(Thread.ofPlatform().daemon(), task, work);
  }

  private boolean start(Thread.Builder kind, String task, Action work) {
    Work<Boolean, RuntimeException> whole =
        () -> {
          work.run();
          return true;
        };
    return launch(new Task<>(named(kind, task), whole, this::report));
  }

  private void report(Task<?, ?> ended) {
    forget(ended);
    ended.failure().ifPresent(failure -> handler.uncaughtException(ended.thread(), failure));
  }

  /** Runs on a thread of its own. */
  public <T, E extends Exception> Task<T, E> fork(String task, Work<T, E> work) {
    return fork(Thread.ofVirtual(), task, work, _ -> {});
  }

  /** As {@link #fork}, on a thread of the system; see {@link #startOnThread}. */
  public <T, E extends Exception> Task<T, E> forkOnThread(String task, Work<T, E> work) {
    return fork(Thread.ofPlatform().daemon(), task, work, _ -> {});
  }

  private <T, E extends Exception> Task<T, E> fork(
      Thread.Builder kind, String task, Work<T, E> work, Consumer<Task<T, E>> whenEnded) {
    var forked =
        new Task<T, E>(
            named(kind, task),
            work,
            ended -> {
              forget(ended);
              whenEnded.accept(ended);
            });
    if (!launch(forked)) {
      forked.refuse();
    }
    return forked;
  }

  private Thread.Builder named(Thread.Builder kind, String task) {
    return kind.name(name + "/" + task);
  }

  /**
   * Runs all at once and waits for all.
   *
   * @return their results, in the order of the works
   * @throws E the first failure, whichever work it is of; the others were interrupted then, and
   *     have ended
   * @throws InterruptedException likewise, when the waiting thread or one of the works was
   *     interrupted
   */
  public <T, E extends Exception> List<T> all(String task, List<? extends Work<T, E>> works)
      throws E, InterruptedException {
    return all(task, works, () -> {});
  }

  /**
   * As {@link #all(String, List)}.
   *
   * @param abort called before it is waited for those that were interrupted
   */
  public <T, E extends Exception> List<T> all(
      String task, List<? extends Work<T, E>> works, Abort abort) throws E, InterruptedException {
    var ended = new LinkedBlockingQueue<Task<T, E>>();
    var forked = new ArrayList<Task<T, E>>();
    boolean isDone = false;
    try {
      for (Work<T, E> work : works) {
        forked.add(fork(Thread.ofVirtual(), task + "-" + forked.size(), work, ended::add));
      }
      for (int left = forked.size(); left > 0; left--) {
        ended.take().get();
      }
      isDone = true;
    } finally {
      if (!isDone) {
        abandon(forked, abort);
      }
    }
    return results(forked);
  }

  /**
   * Runs all at once and waits until every one has ended, well or badly, also when it is
   * interrupted meanwhile: for what must not be left half done.
   *
   * @throws E when none was interrupted, the failure of the first work in the list that failed
   * @throws InterruptedException when the waiting thread was interrupted, before or meanwhile; this
   *     goes before any failure
   */
  public <T, E extends Exception> List<T> finishAll(String task, List<? extends Work<T, E>> works)
      throws E, InterruptedException {
    var forked = new ArrayList<Task<T, E>>();
    for (Work<T, E> work : works) {
      forked.add(fork(task + "-" + forked.size(), work));
    }
    forked.forEach(Task::join);
    if (Thread.interrupted()) {
      throw new InterruptedException(name + "/" + task);
    }
    return results(forked);
  }

  private static <T, E extends Exception> List<T> results(List<Task<T, E>> ended)
      throws E, InterruptedException {
    var results = new ArrayList<T>();
    for (Task<T, E> task : ended) {
      results.add(task.get());
    }
    return results;
  }

  /**
   * Runs it on a thread of its own and waits for its result, but no longer than that.
   *
   * @throws TimeoutException when it took longer; it was interrupted then, and has ended
   * @throws InterruptedException likewise, when the waiting thread or the work was interrupted
   */
  public <T, E extends Exception> T within(Duration limit, String task, Work<T, E> work)
      throws E, InterruptedException, TimeoutException {
    return within(limit, task, work, () -> {});
  }

  /**
   * As {@link #within(Duration, String, Work)}.
   *
   * @param abort called before it is waited for work that was interrupted
   */
  public <T, E extends Exception> T within(
      Duration limit, String task, Work<T, E> work, Abort abort)
      throws E, InterruptedException, TimeoutException {
    Task<T, E> forked = fork(task, work);
    try {
      return forked.get(limit);
    } finally {
      if (!forked.isDone()) {
        abandon(List.of(forked), abort);
      }
    }
  }

  private void abandon(List<? extends Task<?, ?>> tasks, Abort abort) {
    tasks.forEach(Task::cancel);
    try {
      abort.run();
    } catch (IOException broken) {
      // It is of no more use.
    }
    awaitEnd(tasks);
  }

  /** For those that were interrupted; an interrupt of the waiting thread ends this at once. */
  private void awaitEnd(Collection<? extends Task<?, ?>> interrupted) {
    long end = clock.nanos() + patience.toNanos();
    try {
      for (Task<?, ?> task : interrupted) {
        if (!task.awaitThread(Duration.ofNanos(end - clock.nanos()))) {
          reportStuck(task.thread());
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void reportStuck(Thread thread) {
    var stuck =
        new IllegalStateException(
            thread.getName() + " runs on, " + DurationText.of(patience) + " after its interrupt");
    stuck.setStackTrace(thread.getStackTrace());
    handler.uncaughtException(thread, stuck);
  }

  /** Whether its end has begun: what is interrupted from now on is not to be undone by its task. */
  public synchronized boolean isClosed() {
    return closed;
  }

  private synchronized boolean launch(Task<?, ?> task) {
    if (closed) {
      return false;
    }
    task.thread().start();
    running.add(task);
    return true;
  }

  private synchronized void forget(Task<?, ?> task) {
    running.remove(task);
  }

  private synchronized List<Task<?, ?>> end() {
    closed = true;
    return List.copyOf(running);
  }

  @Override
  public void close() {
    List<Task<?, ?>> others =
        end().stream().filter(task -> !task.thread().equals(Thread.currentThread())).toList();
    // What has been started runs, if only to its end: others may wait for what it does there.
    others.forEach(task -> task.thread().interrupt());
    awaitEnd(others);
  }
}
