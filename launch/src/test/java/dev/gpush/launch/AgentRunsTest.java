package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.talk.TracedTalk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The engine on two real agents of this machine, each with two slots. */
@Execution(ExecutionMode.CONCURRENT)
final class AgentRunsTest extends TwoAgents {
  private RunView launch(Optional<String> on, String... words) throws InterruptedException {
    RunRequest plain = asked(words);
    return launch(on.map(slots -> Asked.on(slots, plain)).orElse(plain), Map.of("FROM", "client"));
  }

  private static void await(Path file) {
    while (!Files.exists(file)) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void ranksOfTwoNodesMeet() throws Exception {
    gang.put("train.py", PythonRigs.example("hello/train.py"));

    RunView run = launch(Optional.empty(), "train.py");

    assertEquals("ranks", run.launched().mode());
    assertEquals(Optional.of(0), follow(run.number()));
    List<String> ends =
        output.lines().stream().sorted().map(line -> line.replaceFirst(" on .*:", ":")).toList();
    assertEquals(
        List.of(
            "0/0 rank 0 of 4: sum = 6",
            "0/1 rank 1 of 4: sum = 6",
            "1/2 rank 2 of 4: sum = 6",
            "1/3 rank 3 of 4: sum = 6"),
        ends);
  }

  @Test
  void phasesOfTheStartAreInTheRecordAndTheFirstOutputIsTheLast() throws Exception {
    gang.put("train.py", "print('hello')\n");
    List<Stage> start = List.of(Stage.PYTHON, Stage.NETWORK, Stage.RANKS);

    RunView run = launch(asked("train.py"), Map.of(), new TracedTalk(talk, Clock.system()));

    assertEquals(start, stages(run).subList(0, 3));
    assertEquals(Optional.of(0), follow(run.number()));
    var withOutput = new ArrayList<>(start);
    withOutput.add(Stage.OUTPUT);
    assertEquals(withOutput, stages(launcher.find(Optional.of(1))));
  }

  private static List<Stage> stages(RunView run) {
    return run.trace().phases().stream().map(Phase::stage).toList();
  }

  @Test
  void statusIsThatOfTheFirstFailingRankAndNothingStays() throws Exception {
    gang.put(
        "train.py",
        """
        import os, sys, time
        open("pid%s" % os.environ["RANK"], "w").write(str(os.getpid()) + "\\n")
        if os.environ["RANK"] == "2":
            print("bad", file=sys.stderr)
            sys.exit(3)
        time.sleep(1000)
        """);

    launch(Optional.empty(), "python", "train.py");

    assertEquals(Optional.of(3), follow(1));
    assertTrue(output.lines().contains("1/2! bad"));
    assertEquals(List.of(), output.events());
    assertEquals(RunView.State.FAILED, launcher.find(Optional.empty()).state());
    RunFailure failure = launcher.find(Optional.empty()).failure().orElseThrow();
    assertEquals(2, failure.rank());
    assertEquals(1, failure.where().node());
    assertEquals("exit", failure.code());
    for (int node = 0; node < 2; node++) {
      try (var files = Files.newDirectoryStream(gang.onNode(node, ""), "pid*")) {
        for (Path file : files) {
          String pid = Files.readString(file).strip();
          assertTrue(
              pid.isEmpty() || ProcessHandle.of(Long.parseLong(pid)).isEmpty(), file::toString);
        }
      }
    }
  }

  @Test
  void runGoesOnWithoutAGatewayAndIsFoundByTheNext() throws Exception {
    gang.put(
        "train.py",
        "import os, time\n"
            + "print('early')\n"
            + "while not os.path.exists('go'):\n"
            + "    time.sleep(0.01)\n"
            + "print('late')\n");
    launch(Optional.of("1:0"), "train.py");
    launcher.close();
    gang.connect();
    launcher = gang.launcher();
    launcher.attach(Set.of(0, 1));
    assertEquals(RunView.State.RUNNING, launcher.find(Optional.of(1)).state());
    Task<Optional<Integer>, RuntimeException> status = gang.tasks().fork("follow", () -> follow(1));
    Files.createFile(gang.onNode(1, "go"));

    assertEquals(Optional.of(0), status.get());
    assertEquals(List.of("1/0 early", "1/0 late"), output.lines());
    assertEquals(RunView.State.DONE, launcher.find(Optional.of(1)).state());
  }

  @Test
  void twoRunsSideBySideAndStop() throws Exception {
    gang.put(
        "wait.py",
        "import os, time\nopen('up' + os.environ['GPUSH_RUN'], 'w').close()\ntime.sleep(1000)\n");
    launch(Optional.of("0:0"), "wait.py");
    launch(Optional.of("0:1"), "wait.py");
    var full = assertThrows(GpushException.class, () -> launch(Optional.of("0"), "wait.py"));
    assertEquals(
        new LaunchFailure.NoFreeSlots("--on 0", List.of("run 1", "run 2")), full.failure());
    await(gang.onNode(0, "up1"));
    await(gang.onNode(0, "up2"));

    RunView stopped = launcher.stop(1, "INT", Duration.ofMinutes(5), talk);

    assertEquals(RunView.State.STOPPED, stopped.state());
    assertEquals(Optional.of(130), stopped.exit());
    assertEquals(RunView.State.RUNNING, launcher.find(Optional.of(2)).state());
    RunView third = launch(Optional.of("0:0"), "echo $FROM $GPUSH_SESSION $GPUSH_NODE_ADDRS");
    assertEquals(Optional.of(0), follow(third.number()));
    assertEquals(List.of("0/0 client devbox 127.0.0.1"), output.lines());
    launcher.stop(2, "KILL", Duration.ZERO, talk);
  }

  @Test
  @Tag("local")
  void outputOfOneRankOnly() throws Exception {
    gang.put("train.py", "import os\nfor i in range(3):\n    print(os.environ['RANK'], i)\n");
    launch(Optional.empty(), "train.py");
    follow(1);
    var one = new FakeOutput();

    assertEquals(
        Optional.of(0),
        launcher.follow(1, new LogRequest(Set.of(3), false, Optional.empty()), one));
    assertEquals(List.of("1/3 3 0", "1/3 3 1", "1/3 3 2"), one.lines());
  }

  @Test
  void outputThatCannotBeReadDoesNotEndAsWhole() throws Exception {
    Path run = Path.of(gang.site().infos().getFirst().state()).resolve("runs/7");
    Files.createDirectories(run.getParent());
    Files.createSymbolicLink(run, run);

    for (boolean isFollowed : List.of(false, true)) {
      Json.Obj asked = Json.object("run", 7, "offset", 0, "follow", isFollowed);
      assertThrows(IOException.class, () -> gang.calls(0).follow(asked).readAllBytes());
    }
    // An agent waits for a run of which it cannot tell whether it has ended.
    Files.delete(run);
  }

  @Test
  void nothingIsStartedWhenOneNodeHasNoScript() throws Exception {
    gang.put("train.py", "print(1)\n");
    Files.delete(gang.onNode(1, "train.py"));

    var failed = assertThrows(GpushException.class, () -> launch(Optional.empty(), "train.py"));

    assertTrue(failed.failure() instanceof LaunchFailure.NoSuchScript, failed::toString);
    assertEquals(List.of(), launcher.list());
    assertEquals(1, launch(Optional.of("0"), "train.py").number());
    assertEquals(Optional.of(0), follow(1));
  }

  @Test
  @Tag("local")
  void missingTorchNamesEnvironmentsThatHaveIt() throws Exception {
    gang.put("train.py", "import torch\n");
    Path home = gang.project().getParent();
    Path torch = home.resolve("envs/llm/lib/python3.11/site-packages/torch");
    Files.createDirectories(torch);
    Files.createFile(torch.resolve("version.py"));
    Path without = home.resolve("without");
    assertEquals(
        0,
        new ProcessBuilder("python3", "-m", "venv", "--without-pip", without.toString())
            .start()
            .waitFor());

    var failed =
        assertThrows(
            GpushException.class,
            () -> launch(Optional.empty(), without + "/bin/python", "train.py"));

    assertEquals(
        new LaunchFailure.NoTorch(without + "/bin/python", List.of("~/envs/llm")),
        failed.failure());
  }
}
