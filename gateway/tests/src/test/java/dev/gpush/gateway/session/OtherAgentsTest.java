package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fixture.Asked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agents that another build of gpush has started: a lease outlives an upgrade. */
final class OtherAgentsTest {
  @TempDir private Path folder;

  /** Agents that are of another build as soon as the file is there. */
  private Map<String, String> version(Path file) {
    String text =
        """
        import os, sys

        PYTHON = sys.version.split()[0]

        class Version(int):
            def __ne__(self, other):
                return os.path.exists(%s) or int(self) != other

        VERSION = Version(2)
        """
            .formatted(Json.of(file.toString()).write());
    return Map.of("core/version", text);
  }

  @Test
  void areRefusedWithASentenceAndTheirRunsGoOn() throws Exception {
    Path upgraded = folder.resolve("upgraded");
    Path number = folder.resolve("number");
    try (var rig = new SessionRig(FakeTrouble.none(1), version(upgraded))) {
      Path project = rig.project("project");
      GatewaySessions before = rig.gateway();
      before.up(ask(project, 1), Talk.silent());
      String words =
          "echo $$ >" + number + ".new; mv " + number + ".new " + number + "; exec sleep 600";
      before.runs().launch(DEVBOX, Asked.run(project, words), Talk.silent());
      until("the run goes on", () -> Files.exists(number));
      long run = Long.parseLong(Files.readString(number).strip());
      before.close();
      Files.createFile(upgraded);

      GatewaySessions after = rig.gateway();
      after.recover();

      until(
          "it is refused",
          () -> after.list().getFirst().nodes().getFirst().link().equals("refused"));
      var refused =
          assertThrows(GpushException.class, () -> after.sync(DEVBOX, false, Talk.silent()));
      assertEquals(new AgentFailure.OtherBuild(0), refused.failure());
      String detail = after.list().getFirst().detail();
      assertTrue(detail.startsWith("node 0 refused: "), detail);
      assertTrue(ProcessHandle.of(run).isPresent(), "its run goes on");

      assertEquals(List.of(), after.down(DEVBOX, true, Talk.silent()).kept());
      rig.assertNothingLeft(after);
    }
  }

  @Test
  void areEndedWhereAGangWasJustMadeAndHoldsNothing() throws Exception {
    Path upgraded = Files.createFile(folder.resolve("upgraded"));
    try (var rig = new SessionRig(FakeTrouble.none(1), version(upgraded))) {
      Path project = rig.project("project");
      GatewaySessions gateway = rig.gateway();

      var refused =
          assertThrows(GpushException.class, () -> gateway.up(ask(project, 1), Talk.silent()));

      assertEquals(new AgentFailure.OtherBuild(0), refused.failure());
      assertTrue(gateway.list().isEmpty());
      rig.assertNothingLeft(gateway);
    }
  }
}
