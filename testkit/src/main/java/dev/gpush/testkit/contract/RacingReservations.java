package dev.gpush.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Gang;
import dev.gpush.core.task.Tasks;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Several reservations at once, and which of them got a gang. */
final class RacingReservations {
  private RacingReservations() {}

  /** Where there is a queue, a racer that has nothing after a while stops waiting. */
  static List<Gang> gangs(BackendPlace place, Tasks tasks, List<Callable<Optional<Gang>>> racers)
      throws Exception {
    if (!place.backend().hasQueue()) {
      return tasks.all("racer", racers).stream().flatMap(Optional::stream).toList();
    }
    var ended = new CountDownLatch(racers.size());
    var gangs = new ConcurrentLinkedQueue<Gang>();
    List<Future<Boolean>> running = new ArrayList<>();
    for (Callable<Optional<Gang>> racer : racers) {
      running.add(
          tasks.fork(
              "racer",
              () -> {
                try {
                  racer.call().ifPresent(gangs::add);
                  return true;
                } finally {
                  ended.countDown();
                }
              }));
    }
    ended.await(BackendContract.QUEUED.toMillis(), TimeUnit.MILLISECONDS);
    running.forEach(racer -> racer.cancel(true));
    assertTrue(ended.await(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS));
    return List.copyOf(gangs);
  }
}
