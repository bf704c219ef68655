package dev.gpush.core.setup;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class PlaceSearchTest {
  private static final SetupQuestion QUESTION =
      new SetupQuestion(Path.of("/home/ann"), Path.of("/home/ann"), Map.of(), List.of());

  /** Far more than a test takes: the search waits for answers in real time. */
  private static final Duration LIMIT = Duration.ofDays(1);

  /** Who has the answer after which the time is over. */
  private final AtomicReference<Thread> last = new AtomicReference<>();

  private final Clock clock =
      new Clock() {
        @Override
        public Instant now() {
          return Instant.EPOCH;
        }

        @Override
        public long nanos() {
          Thread answering = last.get();
          if (answering == null) {
            return 0;
          }
          // Its answer must be on its way before the time is over.
          try {
            answering.join();
          } catch (InterruptedException stop) {
            throw new IllegalStateException(stop);
          }
          return LIMIT.toNanos();
        }
      };

  private List<PlaceFinding> search(PlaceFinder... finders) throws InterruptedException {
    try (var tasks = Tasks.named("test", (_, _) -> {})) {
      return new PlaceSearch(List.of(finders), LIMIT, LIMIT, clock, tasks).all(QUESTION);
    }
  }

  private static PlaceCheck check(String name, PlaceCheck.Inspection inspection) {
    return new PlaceCheck(name, "file", inspection);
  }

  private static PlaceFinding unusable(String name) {
    return new PlaceFinding.Unusable(name, "file", "no GPUs");
  }

  private static void awaitInterrupt() {
    await(new CountDownLatch(1));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stop) {
      // As expected.
    }
  }

  @Test
  void whatDoesNotAnswerInTimeIsInterruptedAndNamed() throws Exception {
    var started = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);

    List<PlaceFinding> found =
        search(
            _ ->
                List.of(
                    check(
                        "quick",
                        _ -> {
                          started.await();
                          last.set(Thread.currentThread());
                          return unusable("quick");
                        })),
            _ ->
                List.of(
                    check(
                        "slow",
                        _ -> {
                          started.countDown();
                          awaitInterrupt();
                          interrupted.countDown();
                          return unusable("slow");
                        })));

    assertEquals(
        List.of(
            unusable("quick"),
            new PlaceFinding.Unasked(
                "slow", "file", "did not answer within 1d", "gpush init slow")),
        found);
    interrupted.await();
  }

  @Test
  void placesAreLookedAtWhileAnotherFinderLists() throws Exception {
    var looked = new CountDownLatch(1);

    List<PlaceFinding> found =
        search(
            _ -> {
              await(looked);
              return List.of(check("late", _ -> unusable("late")));
            },
            _ ->
                List.of(
                    check(
                        "quick",
                        _ -> {
                          looked.countDown();
                          return unusable("quick");
                        })));

    assertEquals(List.of(unusable("late"), unusable("quick")), found);
  }

  @Test
  void aFinderWhoseFilesHangIsNamed() throws Exception {
    try (var tasks = Tasks.named("test", (_, _) -> {})) {
      PlaceFinder hanging =
          _ -> {
            await(new CountDownLatch(1));
            return List.of();
          };
      var search = new PlaceSearch(List.of(hanging), Duration.ZERO, LIMIT, Clock.system(), tasks);

      assertEquals(
          List.of(
              new PlaceFinding.Unasked(
                  "places", "", "the files that list them were not read within 0s", "mount")),
          search.all(QUESTION));
    }
  }

  @Test
  void aFailureAndABugConcernOnePlaceOnly() throws Exception {
    List<PlaceFinding> found =
        search(
            _ -> {
              throw new IllegalStateException("a finder with a bug");
            },
            _ ->
                List.of(
                    check(
                        "closed",
                        _ -> {
                          throw new GpushException(
                              new BackendFailure.Unavailable("closed", "it is full", "wait"));
                        }),
                    check(
                        "bug",
                        _ -> {
                          throw new IllegalStateException();
                        }),
                    check("good", _ -> unusable("good"))));

    assertEquals(
        List.of("places", "closed", "bug", "good"),
        found.stream().map(PlaceFinding::name).toList());
    assertEquals(
        new PlaceFinding.Unasked("bug", "file", "a bug in gpush", "gpush gateway logs"),
        found.get(2));
    assertEquals(unusable("good"), found.get(3));
  }
}
