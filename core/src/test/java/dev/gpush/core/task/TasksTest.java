package dev.gpush.core.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class TasksTest {
  @Test
  void closeInterruptsAndWaits() throws Exception {
    var running = new CountDownLatch(1);
    var ended = new CompletableFuture<String>();
    var tasks = Tasks.named("test", (_, _) -> {});
    tasks.start(
        "waits",
        () -> {
          running.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException stop) {
            ended.complete(Thread.currentThread().getName());
          }
        });
    running.await();

    tasks.close();

    assertEquals("test/waits", ended.getNow("not yet"));
    assertThrows(IllegalStateException.class, () -> tasks.start("late", () -> {}));
  }

  @Test
  void allGivesResultsInOrder() throws Exception {
    try (var tasks = Tasks.named("test", (_, _) -> {})) {
      List<Callable<Integer>> works = List.of(() -> 1, () -> 2, () -> 3);

      assertEquals(List.of(1, 2, 3), tasks.all("count", works));
    }
  }

  @Test
  void allThrowsTheFirstFailureAndInterruptsTheRest() {
    var hasBegun = new CountDownLatch(1);
    var interrupted = new CompletableFuture<Boolean>();
    try (var tasks = Tasks.named("test", (_, _) -> {})) {
      List<Callable<Integer>> works =
          List.of(
              () -> {
                hasBegun.await(); // one that has not would be cancelled without ever running
                throw new IllegalArgumentException("first");
              },
              () -> {
                hasBegun.countDown();
                try {
                  new CountDownLatch(1).await();
                } catch (InterruptedException stop) {
                  interrupted.complete(true);
                }
                return 0;
              });

      var failed = assertThrows(IllegalArgumentException.class, () -> tasks.all("work", works));

      assertEquals("first", failed.getMessage());
    }
    assertTrue(interrupted.isDone());
  }

  @Test
  void uncaughtFailuresReachTheHandler() throws Exception {
    var seen = new CompletableFuture<String>();
    try (var tasks = Tasks.named("test", (_, failure) -> seen.complete(failure.getMessage()))) {
      tasks.start(
          "fails",
          () -> {
            throw new IllegalStateException("told");
          });

      assertEquals("told", seen.get());
    }
  }
}
