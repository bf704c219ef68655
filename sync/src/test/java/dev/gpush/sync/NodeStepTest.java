package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.sync.node.Duplex;
import dev.gpush.sync.node.NodeWaiting;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which nodes hold up a step, by the clock. */
final class NodeStepTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final ManualClock clock = new ManualClock();
  private final List<SyncNode> nodes =
      IntStream.range(0, 4).<SyncNode>mapToObj(Named::new).toList();

  private record Named(int index) implements SyncNode {
    @Override
    public NodeInfo info() {
      return new NodeInfo(index, "node" + index, "", List.of("0"), "", 1, "/nowhere/project");
    }

    @Override
    public Duplex open() throws IOException {
      throw new IOException("never");
    }
  }

  /** All are busy: none waits for bytes of its node. */
  private NodeStep step() {
    Map<SyncNode, NodeWaiting> left = new LinkedHashMap<>();
    nodes.forEach(node -> left.put(node, new NodeWaiting(clock)));
    return new NodeStep(nodes.size(), left, clock);
  }

  private List<String> slow(NodeStep step) {
    return step.slow(_ -> LIMIT).stream()
        .map(each -> each.node().info().index() + " " + each.why())
        .toList();
  }

  @Test
  void nodesThatAreEquallyLateHoldUpNobody() {
    NodeStep step = step();
    clock.advance(Duration.ofHours(1));

    assertEquals(List.of(), slow(step));
    step.done(nodes.get(0));
    clock.advance(Duration.ofHours(1));
    assertEquals(List.of(), slow(step));
  }

  @Test
  void oneThatIsBusyIsSlowWhenHalfHaveWaitedForTheLimit() {
    NodeStep step = step();
    step.done(nodes.get(0));
    step.done(nodes.get(2));
    clock.advance(LIMIT.minusMillis(1));
    assertEquals(List.of(), slow(step));
    step.done(nodes.get(3));

    clock.advance(Duration.ofMillis(1));

    assertEquals(List.of("1 is 5s later than the others"), slow(step));
    step.done(nodes.get(1));
    assertEquals(List.of(), slow(step));
  }
}
