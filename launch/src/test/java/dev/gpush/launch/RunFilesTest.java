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
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
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
  private static final NodeCalls SILENT =
      new CallsOnly(
          _ -> {
            new CountDownLatch(1).await();
            return Json.object();
          });

  @Test
  void silentNodeIsNotWaitedForAndCannotTell() throws Exception {
    Tasks tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
    try (tasks) {
      List<LaunchNode> nodes = List.of(node(0, SILENT), node(1, SILENT));
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
