package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample;
import dev.gpush.core.sample.NodeSample.RankSample;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RankStack;
import dev.gpush.core.sample.Samples;
import dev.gpush.core.talk.Talk;
import dev.gpush.testkit.fixture.Asked;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What {@code gpush top} and {@code gpush why} are made from, on two real agents. */
@Tag("local")
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class NodeSamplesTest {
  private static final Duration INTERVAL = Duration.ofMillis(100);

  @Test
  void nodesAreSampledUntilTheSessionEnds() throws Exception {
    try (SessionRig rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      Path project = rig.project("project");
      gateway.up(ask(project, 2), Talk.silent());
      int run =
          gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent()).number();

      try (Samples samples = gateway.runs().sample(DEVBOX, Optional.empty(), INTERVAL)) {
        List<NodeReading> readings = settled(samples, run);
        for (int node = 0; node < 2; node++) {
          NodeReading reading = readings.get(node);
          NodeSample sample = reading.sample().orElseThrow();
          assertEquals(node, reading.node().index());
          assertEquals("up", reading.link());
          assertEquals("", reading.problem());
          assertTrue(sample.host().memory().used().orElseThrow() > 0);
          assertTrue(sample.host().disk().free().orElseThrow() > 0);
          assertTrue(sample.host().cpus() > 0);
        }
        for (NodeStacks node : gateway.runs().stacks(DEVBOX, Optional.of(run))) {
          assertEquals("", node.problem());
          RankStack rank = node.ranks().getFirst();
          assertEquals("S", rank.process().state());
          assertTrue(rank.problem().isPresent(), "sleep has no stack of Python");
        }
        assertEquals(2, gateway.runs().stacks(DEVBOX, Optional.empty()).size());
        gateway.down(DEVBOX, true, Talk.silent());

        GpushException ended =
            assertThrows(GpushException.class, () -> samples.next(SessionRig.DEADLINE));
        assertTrue(ended.failure() instanceof SessionFailure, ended.toString());
      }
    }
  }

  /** With rates, and with a process of the run on each node. */
  private static List<NodeReading> settled(Samples samples, int run) throws InterruptedException {
    while (true) {
      List<NodeReading> readings = samples.next(SessionRig.DEADLINE);
      boolean isSettled =
          readings.stream()
              .allMatch(
                  reading ->
                      reading
                          .sample()
                          .filter(each -> each.host().cpuPercent().isPresent())
                          .filter(
                              sample ->
                                  sample.ranks().stream()
                                      .map(RankSample::run)
                                      .anyMatch(number -> number == run))
                          .isPresent());
      if (isSettled) {
        return readings;
      }
    }
  }
}
