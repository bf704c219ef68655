package dev.gpush.core.backend;

/** The caller of a reservation while the request waits in a queue. Thread-safe. */
@FunctionalInterface
public interface Waiter {
  /** Called whenever the reason of the wait changes: a few words, complete without those before. */
  void waits(String words);

  /**
   * Asked once the reservation was interrupted. True: the request stays in the queue, for {@code
   * RequestQueue.resume} by this process or another one. False: it is rolled back.
   */
  default boolean leavesPlace() {
    return false;
  }
}
