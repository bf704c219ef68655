package dev.gpush.core.task;

/**
 * What a thread of {@link Tasks} does.
 *
 * @param <T> its result
 * @param <E> its checked failures
 */
@FunctionalInterface
public interface Work<T, E extends Exception> {
  /**
   * Does it, on the thread that calls.
   *
   * @throws InterruptedException when it was interrupted
   */
  T run() throws E, InterruptedException;
}
