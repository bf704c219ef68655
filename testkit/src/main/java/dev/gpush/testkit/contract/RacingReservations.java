package dev.gpush.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Several reservations at once, and which of them got a gang. */
final class RacingReservations {
  private RacingReservations() {}

  /** With a queue, at least one gets a gang, and who has none a while later stops waiting. */
  static List<Gang> gangs(
      BackendPlace place, Tasks tasks, List<Work<Optional<Gang>, RuntimeException>> racers)
      throws InterruptedException {
    if (!place.backend().capabilities().hasQueue()) {
      return tasks.all("racer", racers).stream().flatMap(Optional::stream).toList();
    }
    var gangs = new ConcurrentLinkedQueue<Gang>();
    var granted = new CountDownLatch(1);
    var ended = new CountDownLatch(racers.size());
    var running = new ArrayList<Task<Boolean, RuntimeException>>();
    for (Work<Optional<Gang>, RuntimeException> racer : racers) {
      running.add(
          tasks.fork(
              "racer",
              () -> {
                try {
                  racer.run().ifPresent(gangs::add);
                  if (!gangs.isEmpty()) {
                    granted.countDown();
                  }
                  return true;
                } finally {
                  ended.countDown();
                }
              }));
    }
    assertTrue(granted.await(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS));
    ended.await(BackendContract.QUEUED.toMillis(), TimeUnit.MILLISECONDS);
    running.forEach(Task::cancel);
    assertTrue(ended.await(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS));
    return List.copyOf(gangs);
  }
}
