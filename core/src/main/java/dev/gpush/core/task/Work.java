package dev.gpush.core.task;

/**
 * What a thread of {@link Tasks} does.
 *
 * @param <T> its result
 * @param <E> how it may fail, beside unchecked failures
 */
@FunctionalInterface
public interface Work<T, E extends Exception> {
  /**
   * Does it, on the thread that calls.
   *
   * @throws InterruptedException when it was told to stop
   */
  T run() throws E, InterruptedException;
}
