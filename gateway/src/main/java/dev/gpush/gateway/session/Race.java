package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangRequest;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One request with several backends at once. Each waits on a thread of its own; what happens to it
 * is told to the one thread that calls {@link #next}, so that the ledger has one writer.
 */
final class Race {
  /** A reservation that is stopped rolls back; longer than that is never waited for. */
  private static final Duration END_LIMIT = Duration.ofSeconds(60);

  private final Tasks tasks;
  private final Duration pause;
  private final LinkedBlockingQueue<News> news = new LinkedBlockingQueue<>();
  private final List<Runner> runners = new ArrayList<>();

  /**
   * @param pause before what could not be reached is resumed again
   */
  Race(Tasks tasks, Duration pause) {
    this.tasks = tasks;
    this.pause = pause;
  }

  /** What became of one of them. */
  sealed interface News {
    Bid bid();

    record Waits(Bid bid, String words) implements News {}

    record Granted(Bid bid, Gang gang) implements News {}

    record Failed(Bid bid, GpushException failure) implements News {}

    /** A bug, or the end of this process. */
    record Broke(Bid bid, Throwable cause) implements News {}
  }

  /** Asks for it there. */
  void enter(Bid bid, Backend backend, GangRequest request) {
    enter(new Runner(bid, backend, request, false));
  }

  /** Waits for what was asked for there before. */
  void resume(Bid bid, Backend backend, GangRequest request) {
    enter(new Runner(bid, backend, request, true));
  }

  private void enter(Runner runner) {
    runners.add(runner);
    tasks.start("reserve-" + runner.bid.backend(), runner);
  }

  News next() throws InterruptedException {
    return news.take();
  }

  /** Tells all that still wait to stop and roll back; does not wait for it. */
  void stop() {
    runners.forEach(Runner::stop);
  }

  /** Stops all and waits until none can ask for anything any more. */
  void end() {
    stop();
    boolean isInterrupted = false;
    for (Runner runner : runners) {
      boolean isOver = false;
      while (!isOver) {
        try {
          runner.ended.await(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
          isOver = true;
        } catch (InterruptedException again) {
          isInterrupted = true;
        }
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Runner implements Runnable, Waiter {
    private final Bid bid;
    private final Backend backend;
    private final GangRequest request;
    private final boolean isResumed;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final ReentrantLock lock = new ReentrantLock();

    // guarded by lock: thread, isStopped
    private Optional<Thread> thread = Optional.empty();
    private boolean isStopped;

    Runner(Bid bid, Backend backend, GangRequest request, boolean isResumed) {
      this.bid = bid;
      this.backend = backend;
      this.request = request;
      this.isResumed = isResumed;
    }

    @Override
    public void waits(String words) {
      news.add(new News.Waits(bid, words));
    }

    /** Only the end of this gateway leaves it; whoever lost the race, or was given up, goes. */
    @Override
    public boolean leavesPlace() {
      return tasks.isClosed();
    }

    @Override
    public void run() {
      try {
        if (begin(Optional.of(Thread.currentThread()))) {
          reserve();
        }
      } finally {
        begin(Optional.empty());
        ended.countDown();
      }
    }

    private void reserve() {
      try {
        Gang gang = isResumed ? resumed() : backend.reserve(request, this);
        news.add(new News.Granted(bid, gang));
      } catch (GpushException failed) {
        news.add(new News.Failed(bid, failed));
      } catch (InterruptedException | RuntimeException | Error broken) {
        news.add(new News.Broke(bid, broken));
      }
    }

    /** As long as the place cannot be reached, nobody can tell what became of the request. */
    private Gang resumed() throws InterruptedException {
      while (true) {
        try {
          return backend.resume(request, this);
        } catch (GpushException failed) {
          if (!isUnreachable(failed)) {
            throw failed;
          }
          waits(PlaceWords.failed(failed.failure()));
        }
        Thread.sleep(pause);
      }
    }

    private static boolean isUnreachable(GpushException failed) {
      return switch (failed.failure()) {
        case MachineFailure _, BackendFailure.Unavailable _ -> true;
        case Failure _ -> false;
      };
    }

    /** False when it was stopped before. */
    private boolean begin(Optional<Thread> by) {
      lock.lock();
      try {
        thread = by;
        return !isStopped;
      } finally {
        lock.unlock();
      }
    }

    void stop() {
      lock.lock();
      try {
        isStopped = true;
        thread.ifPresent(Thread::interrupt);
      } finally {
        lock.unlock();
      }
    }
  }
}
