package dev.gpush.core.task;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/**
 * A group of threads, virtual ones mostly, with one owner and one end: {@link #close} interrupts
 * all that still run and waits for them. An uncaught failure of a started task goes to the handler
 * given at the start; that of a forked one to its {@link Future}.
 */
public final class Tasks implements AutoCloseable {
  /**
   * How long close() waits for interrupted threads: a thread that does not answer is a bug, but
   * must not hang the exit.
   */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(5);

  private final String name;
  private final Thread.UncaughtExceptionHandler handler;
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private Tasks(String name, Thread.UncaughtExceptionHandler handler) {
    this.name = name;
    this.handler = handler;
  }

  /**
   * A group whose threads are named {@code name/task}; failures nobody waits for go to the handler.
   */
  public static Tasks named(String name, Thread.UncaughtExceptionHandler handler) {
    return new Tasks(name, handler);
  }

  /** A group inside this one's naming and failure handling, with an end of its own. */
  public Tasks group(String child) {
    return new Tasks(name + "/" + child, handler);
  }

  /** Runs on a thread of its own until done or the group is closed. */
  public void start(String task, Runnable work) {
    launch(task, work);
  }

  /**
   * Runs on a thread of its own; the result or failure is in the future. Cancelling it interrupts
   * the thread.
   */
  public <T> Future<T> fork(String task, Callable<T> work) {
    var future = new FutureTask<T>(work);
    launch(task, future);
    return future;
  }

  /**
   * Runs all at once and waits for all; the first failure is thrown after the others were
   * interrupted.
   */
  public <T> List<T> all(String task, List<? extends Callable<T>> works)
      throws InterruptedException {
    var futures = new ArrayList<Future<T>>();
    for (int i = 0; i < works.size(); i++) {
      futures.add(fork(task + "-" + i, works.get(i)));
    }
    var results = new ArrayList<T>();
    try {
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    } catch (ExecutionException failed) {
      throw unchecked(failed.getCause() == null ? failed : failed.getCause());
    } finally {
      futures.forEach(future -> future.cancel(true));
    }
  }

  /** The failure of a task as an unchecked exception, the original if it is one. */
  public static RuntimeException unchecked(Throwable cause) {
    return switch (cause) {
      case RuntimeException failure -> failure;
      case Error error -> throw error;
      default -> new IllegalStateException(cause);
    };
  }

  /**
   * As {@link #start}, on a thread of the system: for who reads or writes a pipe most of the time.
   * A virtual thread that blocks there costs a second thread for as long as it does.
   */
  public void startOnThread(String task, Runnable work) {
    launch(Thread.ofPlatform().daemon(), task, work);
  }

  /** As {@link #fork}, on a thread of the system; see {@link #startOnThread}. */
  public <T> Future<T> forkOnThread(String task, Callable<T> work) {
    var future = new FutureTask<T>(work);
    launch(Thread.ofPlatform().daemon(), task, future);
    return future;
  }

  /** Whether its end has begun: what is interrupted from now on is not to be undone by its task. */
  public boolean isClosed() {
    return closed;
  }

  private void launch(String task, Runnable work) {
    launch(Thread.ofVirtual(), task, work);
  }

  private void launch(Thread.Builder kind, String task, Runnable work) {
    if (closed) {
      throw new IllegalStateException("tasks are closed: " + name);
    }
    var started = new CompletableFuture<Thread>();
    Thread thread =
        kind.name(name + "/" + task)
            .uncaughtExceptionHandler(handler)
            .unstarted(
                () -> {
                  Thread self = started.join();
                  try {
                    work.run();
                  } finally {
                    threads.remove(self);
                  }
                });
    // Who is listed can be joined; the work waits until it is.
    thread.start();
    threads.add(thread);
    started.complete(thread);
    if (closed) {
      thread.interrupt();
    }
  }

  @Override
  public void close() {
    closed = true;
    var waiting = List.copyOf(threads);
    waiting.stream()
        .filter(thread -> !thread.equals(Thread.currentThread()))
        .forEach(Thread::interrupt);
    boolean interrupted = false;
    for (Thread thread : waiting) {
      if (thread.equals(Thread.currentThread())) {
        continue;
      }
      try {
        thread.join(CLOSE_WAIT);
      } catch (InterruptedException stop) {
        interrupted = true;
        break;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
