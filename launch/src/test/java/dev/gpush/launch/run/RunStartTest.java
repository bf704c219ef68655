package dev.gpush.launch.run;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.CallsOnly;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class RunStartTest {
  private static final Duration ENDING = Duration.ofMillis(100);

  @Test
  void aNodeThatDoesNotAnswerDoesNotHoldUpTheEndOfAStart() {
    var isLeft = new AtomicBoolean();
    try (var tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace())) {
      var start =
          new RunStart(
              List.of(new CallsOnly(RunStartTest::answer)),
              7,
              _ -> List.of(Json.object()),
              Clock.system(),
              tasks,
              ENDING);
      Tasks.Action leave =
          () -> {
            throw new InterruptedException("Ctrl-C");
          };

      assertTimeoutPreemptively(
          Duration.ofSeconds(20),
          () ->
              assertThrows(
                  InterruptedException.class,
                  () -> start.start(false, leave, () -> isLeft.set(true))));
      assertTrue(isLeft.get());
    }
  }

  /** Its link is cut after the ranks have started: calls wait until it is back. */
  private static Json answer(String method) throws InterruptedException {
    return switch (method) {
      case "ports" -> Json.object("ports", List.of(4000));
      case "run.start" -> Json.object("pid", 1);
      default -> {
        new CountDownLatch(1).await();
        throw new AssertionError("it came back");
      }
    };
  }
}
