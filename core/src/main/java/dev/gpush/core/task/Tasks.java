package dev.gpush.core.task;

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
 * A group of threads, mostly virtual, with one owner and one end: {@link #close} interrupts those
 * that still run and waits for them. The failure of a started task goes to the group's handler;
 * that of a forked task comes out of its {@link Task#get}. Thread-safe.
 *
 * <p>A closed group runs nothing more: {@link #start} returns false, and {@link #all}, {@link
 * #finishAll}, {@link #within} and the get() of a forked task throw InterruptedException, as for
 * tasks that ran when it was closed.
 *
 * <p>When this class ends tasks it interrupts them and waits until they have ended, for a limited
 * time. A thread that is still running then is a bug: the handler gets its name and stack, and the
 * owner continues.
 */
public final class Tasks implements AutoCloseable {
  /** Far longer than the clean-up of any task takes. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final String name;
  private final Thread.UncaughtExceptionHandler handler;
  private final Duration patience;
  private final Clock clock = Clock.system();

  // guarded by this
  private final Set<Task<?, ?>> running = new HashSet<>();
  private boolean closed;

  /** What a started task does. It may end by being interrupted; that is no failure. */
  @FunctionalInterface
  public interface Action {
    void run() throws InterruptedException;
  }

  /** Ends work that ignores interrupts: a read from a process, a write to a dead connection. */
  @FunctionalInterface
  public interface Abort {
    void run() throws IOException;
  }

  /** {@link Work} on one of several items. */
  @FunctionalInterface
  public interface WorkOn<I, T, E extends Exception> {
    T run(I item) throws E, InterruptedException;
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
   * A group whose threads are named {@code name/task}; failures of tasks that no thread waits for
   * go to the handler.
   */
  public static Tasks named(String name, Thread.UncaughtExceptionHandler handler) {
    return new Tasks(name, handler, PATIENCE);
  }

  /**
   * A group inside this one's naming and failure handling, with its own end; it is closed from the
   * start if this one is.
   */
  public Tasks group(String child) {
    return new Tasks(name + "/" + child, handler, patience, isClosed());
  }

  /**
   * Runs on its own thread until it is done or the group is closed.
   *
   * @return false when it will not run, because the group is closed
   */
  public boolean start(String task, Action work) {
    return start(Thread.ofVirtual(), task, work);
  }

  /**
   * As {@link #start}, on a platform thread: for work that reads or writes a pipe most of the time.
   * A virtual thread that blocks there needs a second thread while it does.
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

  /** As {@link #fork}, on a platform thread; see {@link #startOnThread}. */
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
   * @throws E the first failure of any of them; by then the others were interrupted and have ended
   * @throws InterruptedException when the waiting thread or one of the works was interrupted; by
   *     then all have ended
   */
  public <T, E extends Exception> List<T> all(String task, List<? extends Work<T, E>> works)
      throws E, InterruptedException {
    return all(task, works, () -> {});
  }

  /**
   * As {@link #all(String, List)}.
   *
   * @param abort called after the interrupts, before the wait for their end
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

  /** As {@link #all(String, List)}: the same work for each of these. */
  public <I, T, E extends Exception> List<T> each(
      String task, Collection<I> items, WorkOn<? super I, T, E> work)
      throws E, InterruptedException {
    return all(task, items.stream().<Work<T, E>>map(item -> () -> work.run(item)).toList());
  }

  /**
   * Runs all at once and waits until every one has ended, with a result or a failure, even if the
   * waiting thread is interrupted meanwhile: for work that must not be left half done.
   *
   * @throws E the failure that comes first in the order of the works
   * @throws InterruptedException when the waiting thread was interrupted, before or meanwhile; then
   *     no failure is thrown
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
   * Runs it on a thread of its own and waits for its result, up to the limit.
   *
   * @throws TimeoutException when the limit was reached; by then it was interrupted and has ended
   * @throws InterruptedException when the waiting thread or the work was interrupted; by then it
   *     has ended
   */
  public <T, E extends Exception> T within(Duration limit, String task, Work<T, E> work)
      throws E, InterruptedException, TimeoutException {
    return within(limit, task, work, () -> {});
  }

  /**
   * As {@link #within(Duration, String, Work)}.
   *
   * @param abort called after the interrupt, before the wait for the end
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
      // The work is no longer needed.
    }
    awaitEnd(tasks);
  }

  /** Returns early if the waiting thread is interrupted. */
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
            thread.getName()
                + " still runs, "
                + DurationText.of(patience)
                + " after it was interrupted");
    stuck.setStackTrace(thread.getStackTrace());
    handler.uncaughtException(thread, stuck);
  }

  /** Whether it is being closed: a task that is interrupted from now on must not undo its work. */
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
    // A task that has not started yet still runs, interrupted, because others may wait for its
    // clean-up.
    others.forEach(task -> task.thread().interrupt());
    awaitEnd(others);
  }
}
