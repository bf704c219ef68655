package dev.gpush.launch.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.CallsOnly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class RunStartTest {
  private static final Duration ENDING = Duration.ofMillis(100);

  private static final RunRecord RUN =
      RunRecord.from(Json.object("run", 7, "parts", List.of(Json.object("node", 0)))).orElseThrow();

  private final CountDownLatch link = new CountDownLatch(1);
  private final CountDownLatch killed = new CountDownLatch(1);

  @Test
  void aNodeThatDoesNotAnswerDoesNotHoldUpTheEndOfAStart() {
    var left = new ArrayList<Integer>();
    try (var tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace())) {
      var start =
          new RunStart(
              List.of(new CallsOnly(this::answer)),
              RUN,
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
                  InterruptedException.class, () -> start.start(false, leave, left::addAll)));
      assertEquals(List.of(0), left);
    }
  }

  @Test
  void ranksThatARestartCouldNotEndAreKilledOnceTheirNodeAnswers() throws Exception {
    var busy =
        new CallsOnly(
            method -> {
              throw new GpushException(new AgentFailure.Refused(method, "busy", Json.object()));
            });
    try (var tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace())) {
      var start =
          new RunStart(
              List.of(new CallsOnly(this::answer), busy),
              RUN,
              _ -> List.of(Json.object(), Json.object()),
              Clock.system(),
              tasks,
              ENDING);

      assertThrows(GpushException.class, () -> start.start(true));
      link.countDown();

      assertTrue(killed.await(20, TimeUnit.SECONDS));
    }
  }

  /** Its link is cut after the ranks have started: calls wait until it is back. */
  private Json answer(String method) throws InterruptedException {
    return switch (method) {
      case "ports" -> Json.object("ports", List.of(4000));
      case "run.start" -> Json.object("pid", 1);
      case "run.status" -> {
        link.await();
        yield Json.object("spec", Json.object("about", RUN.about()));
      }
      default -> {
        link.await();
        killed.countDown();
        yield Json.object();
      }
    };
  }
}
