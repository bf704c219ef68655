package dev.gpush.launch.run;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.NodeCalls;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class RunStartTest {
  private static final Duration ENDING = Duration.ofMillis(100);

  @Test
  void aNodeThatDoesNotAnswerDoesNotHoldUpTheEndOfAStart() {
    var isLeft = new AtomicBoolean();
    try (var tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace())) {
      var start =
          new RunStart(
              List.of(new CutLater()),
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
  private static final class CutLater implements NodeCalls {
    @Override
    public Json call(String method, Json.Obj params) throws InterruptedException {
      switch (method) {
        case "ports" -> {
          return Json.object("ports", List.of(4000));
        }
        case "run.start" -> {
          return Json.object("pid", 1);
        }
        default -> {
          new CountDownLatch(1).await();
          throw new AssertionError("it came back");
        }
      }
    }

    @Override
    public InputStream follow(Json.Obj arguments) {
      return InputStream.nullInputStream();
    }

    @Override
    public Answer ask(List<String> arguments, Map<String, String> environment, Duration limit) {
      throw new UnsupportedOperationException("it has no programs");
    }

    @Override
    public int watch(
        List<String> arguments, Map<String, String> environment, Consumer<String> lines) {
      throw new UnsupportedOperationException("it has no programs");
    }
  }
}
