package dev.gpush.backends.remote;

import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;

/**
 * One wait for a gang in the queue of a cluster: decides what happens to the request when the wait
 * fails or is interrupted.
 *
 * @param waiter decides whether an interrupted request stays in the queue
 * @param rollBack takes the request out of the queue, with all that it has started
 */
public record QueuedRequest(String backend, Waiter waiter, RollBack rollBack) {
  /**
   * A request that this process made: it is rolled back if the cluster does not say what became of
   * it.
   */
  public Gang take(Unanswered.Question<Gang> granted) throws InterruptedException {
    return await(granted, false);
  }

  /** A request that was made before: it stays in the queue if the cluster cannot be asked. */
  public Gang resume(Unanswered.Question<Gang> granted) throws InterruptedException {
    return await(granted, true);
  }

  private Gang await(Unanswered.Question<Gang> granted, boolean isResumed)
      throws InterruptedException {
    boolean stays = false;
    try {
      Gang gang = granted.ask();
      stays = true;
      return gang;
    } catch (Unanswered unknown) {
      stays = isResumed;
      throw unknown.known().orElseGet(() -> failure(unknown.words(), isResumed));
    } catch (GpushException failed) {
      stays = isResumed && failed.failure() instanceof BackendFailure.Unavailable;
      throw failed;
    } catch (InterruptedException stop) {
      stays = waiter.leavesPlace();
      throw stop;
    } finally {
      // An interrupt may also have appeared as a failure, with the thread's flag set again.
      boolean isLeft = Thread.currentThread().isInterrupted() && waiter.leavesPlace();
      if (!stays && !isLeft) {
        RollBack.quietly(rollBack);
      }
    }
  }

  private GpushException failure(String why, boolean isResumed) {
    return new GpushException(
        isResumed
            ? new BackendFailure.Unavailable(backend, why, "gpush backends --explain")
            : new BackendFailure.ReserveFailed(backend, why));
  }
}
