package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.fabric.gang.RunFabrics;
import dev.gpush.launch.fabric.gang.SessionFacts;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.node.OutputFolders;
import dev.gpush.launch.node.Pythons;
import dev.gpush.launch.plan.LaunchMaker;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Nodes that do not answer, on a clock on which each look takes ten seconds. */
final class RunFilesTest {
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
      var site =
          new LaunchSite(
              new SessionName("devbox"),
              "0123456789",
              Path.of("/p"),
              false,
              nodes,
              Path.of("/history"),
              Optional.empty());
      var clock = new Hasty();
      var fabrics =
          new RunFabrics(site, new SessionFacts(site, clock, tasks), new FabricPlanner(List::of));
      var maker =
          new LaunchMaker(site, new Pythons(site, tasks), new OutputFolders(site, tasks), fabrics);
      var files = new RunFiles(site, maker, clock, tasks);
      files.waits(42);

      assertThrows(TimeoutException.class, () -> files.look(nodes, 42));
    }
  }

  private static LaunchNode node(int index, NodeCalls calls) {
    var info =
        new NodeInfo(index, "host" + index, "10.0.0." + index, List.of("0"), "H100", 8, "/ws");
    return new LaunchNode(() -> info, calls);
  }
}
