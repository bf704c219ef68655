package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.HowFar;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.TalkAround;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("local")
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class RunConfigTest {
  @Test
  void nodesKeepTheWarningsThatTheyBeganWith() throws Exception {
    try (SessionRig rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      Path project = rig.project("project");
      Path file = project.resolve("gpush.yaml");
      Files.writeString(file, "lease: {warn: [2h, 90s]}\n");
      gateway.up(ask(project, 2), Talk.silent());
      Files.writeString(file, "lease: {warn: [5m]}\n");

      assertEquals(
          List.of(Duration.ofHours(2), Duration.ofSeconds(90)),
          gateway.list().getFirst().lease().warnings());
    }
  }

  /** The setup saves another one while the run is on its way. */
  @Test
  void aConfigurationSavedDuringALaunchIsThatOfTheNextOne() throws Exception {
    try (SessionRig rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      Path project = rig.project("project");
      Path file = project.resolve("gpush.yaml");
      SessionView made = gateway.up(ask(project), Talk.silent());
      Path which = Path.of(made.nodes().getFirst().info().workspace()).resolve("which");
      Files.writeString(
          file, "env: {WHICH: old}\nsetup: {run: \"echo 'env: {WHICH: new}' > '" + file + "'\"}\n");

      gateway
          .runs()
          .launch(
              DEVBOX, Asked.run(project, "sh", "-c", "echo $WHICH > w; mv w which"), Talk.silent());

      until("it has run", () -> Files.exists(which));
      assertEquals("old\n", Files.readString(which));
      assertEquals("env: {WHICH: new}\n", Files.readString(file));
    }
  }

  /** It ran on node 0, and the file of before on the others. */
  @ParameterizedTest
  @ValueSource(strings = {"syncing 1 files", "making the environment"})
  void whatIsSavedOnANodeDuringALongStepIsOnAllNodesOfTheRun(String longStep) throws Exception {
    try (SessionRig rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      Path project = rig.project("project");
      SessionView made = gateway.up(ask(project, 2), Talk.silent());
      Files.writeString(project.resolve("new.py"), "");
      List<Path> files =
          made.nodes().stream()
              .map(node -> Path.of(node.info().workspace()).resolve("train.py"))
              .toList();
      var talk =
          new TalkAround(Talk.silent()) {
            @Override
            public Step step(String what) {
              if (!what.equals(longStep)) {
                return super.step(what);
              }
              return new Step() {
                @Override
                public void show(HowFar far) {}

                @Override
                public void close() {
                  save(files.getFirst());
                  rig.letPass(Duration.ofMinutes(5));
                }
              };
            }
          };

      gateway.runs().launch(DEVBOX, Asked.run(project, "true"), talk);

      assertEquals("print(2)\n", Files.readString(files.getFirst()));
      assertEquals("print(2)\n", Files.readString(files.getLast()));
    }
  }

  /** It did, for each run on a workspace whose look takes more than 2 s. */
  @Test
  void aRunDoesNotPushAgainBecauseThePushWasLong() throws Exception {
    try (SessionRig rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      Path project = rig.project("project");
      gateway.up(ask(project, 2), Talk.silent());
      var looks = new AtomicInteger();
      var talk =
          new TalkAround(Talk.silent()) {
            @Override
            public Step step(String what) {
              if (what.startsWith("looking at ")) {
                looks.incrementAndGet();
                rig.letPass(Duration.ofMinutes(5));
              }
              return super.step(what);
            }
          };

      gateway.runs().launch(DEVBOX, Asked.run(project, "true"), talk);

      assertEquals(1, looks.get());
    }
  }

  private static void save(Path file) {
    try {
      Files.writeString(file, "print(2)\n");
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
