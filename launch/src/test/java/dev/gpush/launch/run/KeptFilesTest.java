package dev.gpush.launch.run;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.NodeCalls;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Nodes that do not answer, on a clock on which each look takes ten seconds. */
final class KeptFilesTest {
  private static final class Hasty implements Clock {
    private final AtomicLong seconds = new AtomicLong();

    @Override
    public Instant now() {
      return Instant.EPOCH;
    }

    @Override
    public long nanos() {
      return Duration.ofSeconds(seconds.getAndAdd(10)).toNanos();
    }
  }

  /** Its link is cut: a call waits. */
  private static final class Silent implements NodeCalls {
    @Override
    public Json call(String method, Json.Obj params) throws InterruptedException {
      new CountDownLatch(1).await();
      return Json.object();
    }

    @Override
    public InputStream follow(Json.Obj arguments) {
      return InputStream.nullInputStream();
    }

    @Override
    public Answer ask(List<String> arguments, Map<String, String> environment, Duration limit) {
      return new Answer(0, "", "");
    }

    @Override
    public int watch(
        List<String> arguments, Map<String, String> environment, Consumer<String> lines) {
      return 0;
    }
  }

  @Test
  void silentNodeIsNotWaitedForAndCannotTell() throws Exception {
    Tasks tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
    try (tasks) {
      List<LaunchNode> nodes = List.of(node(0, new Silent()), node(1, new Silent()));
      new KeptFiles(nodes, List.of(), new Hasty(), tasks).keep(42);

      var kept = new KeptFiles(nodes, List.of(), new Hasty(), tasks);
      assertThrows(TimeoutException.class, () -> kept.look(42));
    }
  }

  private static LaunchNode node(int index, NodeCalls calls) {
    var info =
        new NodeInfo(index, "host" + index, "10.0.0." + index, List.of("0"), "H100", 8, "/ws");
    return new LaunchNode(() -> info, calls);
  }
}
