package dev.gpush.sync.pace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which nodes hold up a step, by the clock. */
final class NodeStepTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private final ManualClock clock = new ManualClock();

  /** All are busy: none waits for bytes of its node. */
  private NodeStep step() {
    var left = new LinkedHashMap<Integer, NodeWaiting>();
    for (int node = 0; node < 4; node++) {
      left.put(node, new NodeWaiting(clock));
    }
    return new NodeStep(left.size(), left, clock);
  }

  private List<String> slow(NodeStep step) {
    return step.slow(_ -> LIMIT).stream().map(each -> each.node() + " " + each.why()).toList();
  }

  @Test
  void nodesThatAreEquallyLateHoldUpNobody() {
    NodeStep step = step();
    clock.advance(Duration.ofHours(1));

    assertEquals(List.of(), slow(step));
    step.done(0);
    clock.advance(Duration.ofHours(1));
    assertEquals(List.of(), slow(step));
  }

  @Test
  void oneThatIsBusyIsSlowWhenHalfHaveWaitedForTheLimit() {
    NodeStep step = step();
    step.done(0);
    step.done(2);
    clock.advance(LIMIT.minusMillis(1));
    assertEquals(List.of(), slow(step));
    step.done(3);

    clock.advance(Duration.ofMillis(1));

    assertEquals(List.of("1 is 5s later than the others"), slow(step));
    step.done(1);
    assertEquals(List.of(), slow(step));
  }
}
