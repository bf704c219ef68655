package dev.gpush.gateway.session.saves;

import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.util.Optional;

/**
 * The push of a save, which a command that ends the session stops instead of waiting for it: a node
 * that does not read could hold it up for ever. Nodes that have not committed keep what they had.
 * Thread-safe.
 */
final class SavePush {
  private final Tasks tasks;

  // guarded by this
  private int stops;
  private Optional<Task<?, ?>> current = Optional.empty();

  SavePush(Tasks tasks) {
    this.tasks = tasks;
  }

  /**
   * Runs it until it ends or is stopped.
   *
   * @return empty when it was stopped
   */
  <T, E extends Exception> Optional<T> run(Work<T, E> push) throws E, InterruptedException {
    Task<T, E> task = tasks.fork("push", push);
    try {
      if (begins(task)) {
        return Optional.of(task.get());
      }
    } catch (InterruptedException stop) {
      // It was stopped, unless this thread is to end.
      if (!task.isDone() || tasks.isClosed()) {
        throw stop;
      }
    } finally {
      task.cancel();
      task.join();
      ended();
    }
    return Optional.empty();
  }

  private synchronized boolean begins(Task<?, ?> task) {
    current = Optional.of(task);
    return stops == 0;
  }

  private synchronized void ended() {
    current = Optional.empty();
  }

  synchronized boolean isStopped() {
    return stops > 0;
  }

  /** Until {@link #allow}, what is on its way is stopped, and nothing begins. */
  synchronized void stop() {
    stops++;
    current.ifPresent(Task::cancel);
  }

  synchronized void allow() {
    stops--;
  }
}
