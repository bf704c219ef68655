package dev.gpush.backends.remote;

import dev.gpush.core.failure.GpushException;

/** Ends what a reservation has started that failed or was interrupted. */
@FunctionalInterface
public interface RollBack {
  void run() throws InterruptedException;

  /**
   * Also of an interrupted thread, whose flag stays. The caller hears of the first failure, not of
   * what happens here: it releases again, or the gang is found later as an incomplete one.
   */
  static void quietly(RollBack rollBack) {
    boolean interrupted = Thread.interrupted();
    try {
      rollBack.run();
    } catch (GpushException stillThere) {
      // A later release reports it if it stays.
    } catch (InterruptedException again) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
