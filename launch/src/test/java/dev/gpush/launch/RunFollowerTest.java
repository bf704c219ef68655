package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.run.RunFollower;
import dev.gpush.launch.run.RunRecord;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** One node with a run in its second attempt; the output of the first one cannot be read. */
final class RunFollowerTest {
  private final FakeOutput output = new FakeOutput();

  private void show(Failure ofTheFirst) throws InterruptedException {
    var info = new NodeInfo(0, "host", "10.0.0.1", List.of("0"), "H100", 8, "/ws");
    var site =
        new LaunchSite(
            new SessionName("devbox"),
            "0123456789",
            Path.of("/ws"),
            false,
            List.of(new LaunchNode(() -> info, new TwoAttempts(ofTheFirst))),
            Path.of("/history"),
            Optional.empty());
    RunRecord record =
        RunRecord.from(
                Json.object(
                    "run",
                    7,
                    "options",
                    Json.object("restarts", 1),
                    "parts",
                    List.of(Json.object("node", 0))))
            .orElseThrow();
    try (var tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace())) {
      new RunFollower(site, tasks).show(record, FakeOutput.UP_TO_NOW, output);
    }
  }

  @Test
  void anAttemptWhoseOutputCannotBeReadIsNotSaidToBeLost() {
    var cut = new LaunchFailure.CutOutput(7, 0);

    assertEquals(cut, assertThrows(GpushException.class, () -> show(cut)).failure());

    assertEquals(
        List.of(
            "0: the output on node 0 ends here: the node cannot read the rest",
            "0: how attempt 1 ended is not known; the run was started again"),
        output.events());
  }

  @Test
  void anAttemptThatIsNotKeptIsNotSaidToBeLost() throws Exception {
    show(new AgentFailure.Refused("follow", "not-found", Json.object("run", 7)));

    assertEquals(
        List.of(
            "0: the output on node 0 is not kept: a node keeps the last 50 runs, of all 8 GB",
            "0: how attempt 1 ended is not known; the run was started again"),
        output.events());
  }

  @Test
  void anAttemptOnANodeThatIsLostSinceIsNotSaidToBeLost() throws Exception {
    show(new AgentFailure.LinkOver(0, "preempted"));

    assertEquals(
        List.of(
            "0: node 0 is lost, and what its ranks printed with it",
            "0: how attempt 1 ended is not known; the run was started again"),
        output.events());
  }

  private static final class TwoAttempts extends CallsOnly {
    private final Failure ofTheFirst;

    TwoAttempts(Failure ofTheFirst) {
      super(_ -> Json.object("attempt", 2, "before", 1));
      this.ofTheFirst = ofTheFirst;
    }

    @Override
    public boolean isLost() {
      return ofTheFirst instanceof AgentFailure.LinkOver;
    }

    @Override
    public InputStream follow(Json.Obj arguments) throws InterruptedException {
      if (arguments.get("before").isPresent()) {
        throw new GpushException(ofTheFirst);
      }
      return super.follow(arguments);
    }
  }
}
