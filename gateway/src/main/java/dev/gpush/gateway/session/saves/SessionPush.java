package dev.gpush.gateway.session.saves;

import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.util.Optional;

/**
 * The push that a save or a command makes while it has the session's turn. A command that ends the
 * session stops it instead of waiting: a node that does not read could hold it up for ever. Nodes
 * that have not committed keep what they had. Thread-safe.
 */
public final class SessionPush {
  private final Tasks tasks;

  // guarded by this
  private int stops;
  private boolean isCurrentStopped;
  private Optional<Task<?, ?>> current = Optional.empty();

  public SessionPush(Tasks tasks) {
    this.tasks = tasks;
  }

  /**
   * Runs it until it ends or is stopped.
   *
   * @return empty when it was stopped
   */
  public <T, E extends Exception> Optional<T> run(Work<T, E> push) throws E, InterruptedException {
    Task<T, E> task = tasks.fork("push", push);
    try {
      if (begins(task)) {
        return Optional.of(task.get());
      }
    } catch (InterruptedException stop) {
      // Unless it was stopped, this thread is to end.
      if (!task.isDone() || !isCurrentStopped()) {
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
    isCurrentStopped = stops > 0;
    return !isCurrentStopped;
  }

  private synchronized boolean isCurrentStopped() {
    return isCurrentStopped;
  }

  private synchronized void ended() {
    current = Optional.empty();
  }

  synchronized boolean isStopped() {
    return stops > 0;
  }

  /** Until {@link #allow}, what is on its way is stopped, and nothing begins. */
  public synchronized void stop() {
    stops++;
    isCurrentStopped = true;
    current.ifPresent(Task::cancel);
  }

  public synchronized void allow() {
    stops--;
  }
}
