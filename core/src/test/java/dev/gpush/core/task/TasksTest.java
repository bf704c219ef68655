package dev.gpush.core.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

final class TasksTest {
  /** No test waits so long, unless what it waits for never comes. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final Duration SHORT = Duration.ofMillis(20);

  private static Tasks tasks() {
    return Tasks.named("test", (_, _) -> {});
  }

  /** Waits for ever, and says in the latch that it was interrupted. */
  private static Work<Integer, RuntimeException> waits(
      CountDownLatch begun, CountDownLatch interrupted) {
    return () -> {
      begun.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException stop) {
        interrupted.countDown();
      }
      return 0;
    };
  }

  /** As a read from a process does: no interrupt ends it. */
  private static void deafWait(CountDownLatch latch) {
    boolean isOpen = false;
    while (!isOpen) {
      try {
        latch.await();
        isOpen = true;
      } catch (InterruptedException ignored) {
        // Deaf.
      }
    }
  }

  @Test
  void closeInterruptsAndWaits() throws Exception {
    var running = new CountDownLatch(1);
    var ended = new CompletableFuture<String>();
    var tasks = tasks();
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
  }

  /** Turns and latches are given back at the end of tasks. */
  @RepeatedTest(50)
  void whatWasStartedRunsToItsEnd() {
    var ended = new AtomicInteger();
    var tasks = tasks();
    tasks.start(
        "ends",
        () -> {
          try {
            new CountDownLatch(1).await();
          } finally {
            ended.incrementAndGet();
          }
        });

    tasks.close();

    assertEquals(1, ended.get());
  }

  @Test
  void aClosedGroupRunsNothing() throws Exception {
    var runs = new AtomicInteger();
    Work<Integer, RuntimeException> counts = runs::incrementAndGet;
    var tasks = tasks();
    tasks.close();

    assertFalse(tasks.start("late", runs::incrementAndGet));
    Task<Integer, RuntimeException> late = tasks.fork("late", counts);
    assertTrue(late.isDone());
    assertThrows(InterruptedException.class, late::get);
    assertThrows(InterruptedException.class, () -> tasks.all("late", List.of(counts)));
    assertThrows(InterruptedException.class, () -> tasks.finishAll("late", List.of(counts)));
    assertThrows(InterruptedException.class, () -> tasks.within(LIMIT, "late", counts));
    assertFalse(tasks.group("child").start("late", runs::incrementAndGet));
    assertEquals(0, runs.get());
  }

  @Test
  void failuresComeOutAsTheyWereThrown() {
    var io = new IOException("checked");
    var runtime = new IllegalArgumentException("unchecked");
    var error = new AssertionError("error");
    try (var tasks = tasks()) {
      Task<Integer, IOException> one =
          tasks.fork(
              "io",
              () -> {
                throw io;
              });
      Task<Integer, RuntimeException> two =
          tasks.fork(
              "runtime",
              () -> {
                throw runtime;
              });
      Task<Integer, RuntimeException> three =
          tasks.forkOnThread(
              "error",
              () -> {
                throw error;
              });

      assertSame(io, assertThrows(IOException.class, one::get));
      assertSame(io, assertThrows(IOException.class, () -> one.get(LIMIT)));
      assertSame(runtime, assertThrows(IllegalArgumentException.class, two::get));
      assertSame(error, assertThrows(AssertionError.class, three::get));
    }
  }

  @Test
  void aCancelledTaskIsInterrupted() throws Exception {
    var begun = new CountDownLatch(1);
    try (var tasks = tasks()) {
      Task<Integer, RuntimeException> task =
          tasks.fork(
              "waits",
              () -> {
                begun.countDown();
                new CountDownLatch(1).await();
                return 0;
              });
      begun.await();

      task.cancel();

      assertThrows(InterruptedException.class, () -> task.get(LIMIT));
      assertFalse(Thread.currentThread().isInterrupted());
    }
  }

  @Test
  void getWaitsNoLongerThanItsLimit() throws Exception {
    var end = new CountDownLatch(1);
    try (var tasks = tasks()) {
      Task<Integer, RuntimeException> task =
          tasks.fork(
              "waits",
              () -> {
                end.await();
                return 7;
              });

      assertThrows(TimeoutException.class, () -> task.get(SHORT));

      end.countDown();
      assertEquals(7, task.get(LIMIT));
    }
  }

  @Test
  void joinIsNotEndedByAnInterrupt() throws Exception {
    var begun = new CountDownLatch(1);
    var end = new CountDownLatch(1);
    try (var tasks = tasks()) {
      Task<Integer, RuntimeException> task =
          tasks.fork(
              "waits",
              () -> {
                end.await();
                return 7;
              });
      Task<Boolean, RuntimeException> joins =
          tasks.fork(
              "joins",
              () -> {
                Thread.currentThread().interrupt();
                begun.countDown();
                task.join();
                return task.isDone() && Thread.currentThread().isInterrupted();
              });
      begun.await();
      end.countDown();

      assertTrue(joins.get(LIMIT));
    }
  }

  @Test
  void allGivesResultsInOrder() throws Exception {
    try (var tasks = tasks()) {
      List<Work<Integer, RuntimeException>> works = List.of(() -> 1, () -> 2, () -> 3);

      assertEquals(List.of(1, 2, 3), tasks.all("count", works));
      assertEquals(List.of(2, 4, 6), tasks.each("double", List.of(1, 2, 3), item -> 2 * item));
    }
  }

  @Test
  void allFailsAsSoonAsAnyFails() {
    var interrupted = new CountDownLatch(1);
    try (var tasks = tasks()) {
      List<Work<Integer, IOException>> works =
          List.of(
              () -> {
                try {
                  new CountDownLatch(1).await();
                } finally {
                  interrupted.countDown();
                }
                return 0;
              },
              () -> {
                throw new IOException("second");
              });
      Task<List<Integer>, IOException> all = tasks.fork("all", () -> tasks.all("work", works));

      assertEquals("second", assertThrows(IOException.class, () -> all.get(LIMIT)).getMessage());
    }
  }

  @Test
  void allReturnsWhenWhatItInterruptedHasEnded() throws Exception {
    var begun = new CountDownLatch(1);
    var open = new CountDownLatch(1);
    try (var tasks = tasks()) {
      List<Work<Integer, RuntimeException>> works =
          List.of(
              () -> {
                begun.await();
                throw new IllegalArgumentException("first");
              },
              () -> {
                begun.countDown();
                deafWait(open);
                return 0;
              });
      Task<List<Integer>, RuntimeException> all = tasks.fork("all", () -> tasks.all("work", works));

      assertThrows(TimeoutException.class, () -> all.get(SHORT));
      open.countDown();
      assertThrows(IllegalArgumentException.class, () -> all.get(LIMIT));
    }
  }

  @Test
  void allTellsTheInterruptOfAWorkAsOne() {
    try (var tasks = tasks()) {
      List<Work<Integer, RuntimeException>> works =
          List.of(
              () -> {
                throw new InterruptedException("stop");
              });

      assertThrows(InterruptedException.class, () -> tasks.all("work", works));
    }
  }

  @Test
  void anInterruptedAllInterruptsItsWorks() throws Exception {
    var begun = new CountDownLatch(2);
    var interrupted = new CountDownLatch(2);
    var works = List.of(waits(begun, interrupted), waits(begun, interrupted));
    try (var tasks = tasks()) {
      Task<List<Integer>, RuntimeException> all = tasks.fork("all", () -> tasks.all("work", works));
      begun.await();

      all.cancel();

      assertThrows(InterruptedException.class, () -> all.get(LIMIT));
      assertEquals(0, interrupted.getCount());
    }
  }

  @Test
  void abortEndsWhatAnInterruptDoesNot() {
    var begun = new CountDownLatch(1);
    var open = new CountDownLatch(1);
    List<Work<Integer, IOException>> works =
        List.of(
            () -> {
              begun.countDown();
              deafWait(open);
              return 0;
            },
            () -> {
              begun.await();
              throw new IOException("broken");
            });
    try (var tasks = tasks()) {
      assertThrows(
          IOException.class,
          () ->
              tasks.all(
                  "work",
                  works,
                  () -> {
                    open.countDown();
                    throw new IOException("closing");
                  }));
    }
  }

  @Test
  void aThreadThatNeverEndsIsNamed() throws Exception {
    var begun = new CountDownLatch(1);
    var open = new CountDownLatch(1);
    var told = new CompletableFuture<String>();
    List<Work<Integer, IOException>> works =
        List.of(
            () -> {
              begun.countDown();
              deafWait(open);
              return 0;
            },
            () -> {
              begun.await();
              throw new IOException("broken");
            });
    try (var tasks =
        new Tasks("test", (thread, stuck) -> told.complete(stuck.getMessage()), SHORT)) {
      assertThrows(IOException.class, () -> tasks.all("deaf", works));

      assertTrue(told.getNow("nothing").contains("test/deaf-0 still runs"), told::join);
      open.countDown();
    }
  }

  @Test
  void withinGivesTheResult() throws Exception {
    try (var tasks = tasks()) {
      assertEquals(7, tasks.within(LIMIT, "seven", () -> 7));
      assertThrows(
          IOException.class,
          () ->
              tasks.within(
                  LIMIT,
                  "fails",
                  () -> {
                    throw new IOException("told");
                  }));
    }
  }

  @Test
  void withinInterruptsAtItsLimitAndWaits() {
    var running = new AtomicInteger();
    try (var tasks = tasks()) {
      Work<Integer, RuntimeException> waits =
          () -> {
            running.incrementAndGet();
            try {
              new CountDownLatch(1).await();
            } finally {
              running.decrementAndGet();
            }
            return 0;
          };

      assertThrows(TimeoutException.class, () -> tasks.within(SHORT, "waits", waits));

      assertEquals(0, running.get());
    }
  }

  @Test
  void finishAllIsNotEndedByAnInterrupt() throws Exception {
    var begun = new CountDownLatch(2);
    var end = new CountDownLatch(1);
    var ended = new AtomicInteger();
    Work<Integer, IOException> fails =
        () -> {
          begun.countDown();
          end.await();
          ended.incrementAndGet();
          throw new IOException("not told: the interrupt is");
        };
    try (var tasks = tasks()) {
      Task<Integer, IOException> all =
          tasks.fork(
              "all",
              () -> {
                Thread.currentThread().interrupt();
                tasks.finishAll("work", List.of(fails, fails));
                return 0;
              });
      begun.await();
      assertFalse(all.isDone());
      end.countDown();

      assertThrows(InterruptedException.class, () -> all.get(LIMIT));
      assertEquals(2, ended.get());
    }
  }

  @Test
  void finishAllTellsTheFirstFailureInTheListWhenAllHaveEnded() {
    var failed = new CountDownLatch(1);
    var ended = new AtomicInteger();
    List<Work<Integer, IOException>> works =
        List.of(
            () -> {
              failed.await();
              ended.incrementAndGet();
              throw new IOException("first in the list");
            },
            () -> {
              ended.incrementAndGet();
              failed.countDown();
              throw new IOException("first in time");
            });
    try (var tasks = tasks()) {
      var told = assertThrows(IOException.class, () -> tasks.finishAll("work", works));

      assertEquals("first in the list", told.getMessage());
      assertEquals(2, ended.get());
    }
  }

  @Test
  void failuresNobodyWaitsForReachTheHandler() throws Exception {
    var seen = new CompletableFuture<String>();
    try (var tasks = Tasks.named("test", (_, failure) -> seen.complete(failure.getMessage()))) {
      tasks.start(
          "interrupted",
          () -> {
            throw new InterruptedException("an end like another");
          });
      tasks.start(
          "fails",
          () -> {
            throw new IllegalStateException("told");
          });

      assertEquals("told", seen.get());
    }
  }
}
