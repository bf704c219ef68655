package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.gateway.session.ledger.Bid;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * One request with several backends at once. Each waits on its own thread and reports to the one
 * thread that calls {@link #next}, so that the ledger has one writer.
 */
final class ReservationRace {
  /** How long to wait until a stopped reservation has rolled back. */
  private static final Duration END_LIMIT = Duration.ofSeconds(60);

  private final Tasks tasks;
  private final Duration pause;
  private final LinkedBlockingQueue<News> news = new LinkedBlockingQueue<>();
  private final List<Task<Boolean, RuntimeException>> running = new ArrayList<>();

  /**
   * @param pause before a backend that could not be reached is tried again
   */
  ReservationRace(Tasks tasks, Duration pause) {
    this.tasks = tasks;
    this.pause = pause;
  }

  /** An event of one of them. */
  sealed interface News {
    record Waits(Bid bid, String words) implements News {}

    record Granted(Bid bid, Gang gang) implements News {}

    record Failed(Bid bid, GpushException failure) implements News {}

    record Broke(Bid bid, RuntimeException bug) implements News {}

    record Died(Bid bid, Error bug) implements News {}

    /** The end of this process. */
    record Stopped(Bid bid) implements News {}
  }

  /** Reserves at this backend. */
  void enter(Bid bid, Backend backend, GangRequest request) {
    run(bid, () -> backend.reserve(request, waiter(bid)));
  }

  /** Resumes a request that this backend has already. */
  void resume(Bid bid, Backend backend, GangRequest request) {
    run(bid, () -> resumed(bid, backend, request));
  }

  private void run(Bid bid, Work<Gang, RuntimeException> reserve) {
    running.add(tasks.fork("reserve-" + bid.backend(), () -> reserve(bid, reserve)));
    if (tasks.isClosed()) {
      // The reservation may never start, and then reports nothing itself.
      news.add(new News.Stopped(bid));
    }
  }

  private boolean reserve(Bid bid, Work<Gang, RuntimeException> reserve) {
    try {
      return news.add(new News.Granted(bid, reserve.run()));
    } catch (GpushException failed) {
      return news.add(new News.Failed(bid, failed));
    } catch (RuntimeException bug) {
      return news.add(new News.Broke(bid, bug));
    } catch (Error bug) {
      return news.add(new News.Died(bid, bug));
    } catch (InterruptedException stop) {
      return news.add(new News.Stopped(bid));
    }
  }

  private Waiter waiter(Bid bid) {
    return new Waiter() {
      @Override
      public void waits(String words) {
        news.add(new News.Waits(bid, words));
      }

      // Only when this gateway ends; a bid that lost the race or was cancelled is rolled back.
      @Override
      public boolean leavesPlace() {
        return tasks.isClosed();
      }
    };
  }

  /**
   * As long as the backend cannot be reached, the state of the request is unknown, so it is kept.
   */
  private Gang resumed(Bid bid, Backend backend, GangRequest request) throws InterruptedException {
    RequestQueue queue = backend.capabilities().queue().orElseThrow(() -> noQueue(backend));
    while (true) {
      try {
        return queue.resume(request, waiter(bid));
      } catch (GpushException failed) {
        if (!isUnreachable(failed)) {
          throw failed;
        }
        news.add(new News.Waits(bid, FailureText.clause(failed.failure())));
      }
      Thread.sleep(pause);
    }
  }

  private static GpushException noQueue(Backend backend) {
    return new GpushException(
        new BackendFailure.ReserveFailed(backend.name(), "it has no queue to wait in again"));
  }

  private static boolean isUnreachable(GpushException failed) {
    return switch (failed.failure()) {
      case MachineFailure _, BackendFailure.Unavailable _ -> true;
      case Failure _ -> false;
    };
  }

  News next() throws InterruptedException {
    return news.take();
  }

  /** Stops all that still wait, which roll back; does not wait for that. */
  void stop() {
    running.forEach(Task::cancel);
  }

  /** Stops all and waits until they have ended. */
  void end() {
    stop();
    running.forEach(reservation -> reservation.join(END_LIMIT));
  }
}
