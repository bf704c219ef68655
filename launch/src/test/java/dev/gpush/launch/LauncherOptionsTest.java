package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.testkit.fixture.Asked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Options of run with real ranks, on two agents of this machine, each with two slots and no GPU.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("local")
final class LauncherOptionsTest extends TwoAgents {
  private static final RunRequest.Ranks WARM =
      new RunRequest.Ranks(Optional.empty(), 0, true, false);
  private static final RunRequest.Ranks TWICE = new RunRequest.Ranks(Optional.empty(), 2);

  private RunView launch(RunRequest request) throws InterruptedException {
    return launch(request, Map.of("FROM", "client", "OVER", "client"));
  }

  @Test
  void nodesWithoutGpusTakeAnyNumberOfRanks() throws Exception {
    gang.put("train.py", PythonRigs.example("hello/train.py"));

    RunView run = launch(Asked.with(new RunRequest.Ranks(Optional.of(3), 0), asked("train.py")));

    assertEquals(Optional.of(0), follow(run.number()), output.lines()::toString);
    assertEquals(6, run.ranks());
    assertTrue(
        output.lines().stream().anyMatch(line -> line.matches("1/5 rank 5 of 6.*sum = 15")),
        output.lines()::toString);
  }

  @Test
  void variablesOfOptionsReachTheRanksAndAreNotRepeated() throws Exception {
    gang.put(
        "train.py",
        "import os\n"
            + "print(os.environ.get('FROM'), os.environ.get('OVER'), os.environ.get('LAST'))\n");
    RunRequest plain = Asked.on("0:0", asked("LAST=word", "train.py"));

    launch(Asked.env(Map.of("OVER", "option", "LAST", "option"), plain));
    follow(1);
    launch(asked());
    follow(2);

    assertEquals(List.of("0/0 client option word", "0/0 client client word"), output.lines());
    assertTrue(
        talk.said()
            .contains(
                "run 1 had --env LAST, OVER, which is not repeated; give it again if this run"
                    + " needs it"),
        talk.said()::toString);
  }

  @Test
  void allRanksStartAgainAfterAFailure() throws Exception {
    Path printed = Files.createDirectory(gang.project().resolveSibling("printed"));
    gang.put(
        "train.py",
        """
        import os, sys, time
        rank, restart = os.environ["RANK"], os.environ.get("GPUSH_RESTART", "0")
        print("restart", restart, flush=True)
        if restart == "0":
            open(os.path.join("PRINTED", rank), "w").close()
            if rank == "2":
                while len(os.listdir("PRINTED")) < 4:
                    time.sleep(0.01)
                sys.exit(3)
            time.sleep(1000)
        """
            .replace("PRINTED", printed.toString()));

    RunView run = launch(Asked.with(TWICE, asked("train.py")));

    assertTrue(run.header().endsWith(" · up to 2 restarts"), run::header);
    assertEquals(Optional.of(0), follow(1), output.lines()::toString);
    assertTrue(output.events().contains("0: rank 2 exit, 1 of 2"), output.events()::toString);
    assertEquals(4, output.lines().stream().filter(line -> line.endsWith("restart 1")).count());
    assertEquals(RunView.State.DONE, launcher.find(Optional.of(1)).state());

    var logs = new FakeOutput();
    assertEquals(Optional.of(0), launcher.follow(1, FakeOutput.UP_TO_NOW, logs));
    assertEquals(4, logs.lines().stream().filter(line -> line.endsWith("restart 0")).count());
    assertEquals(4, logs.lines().stream().filter(line -> line.endsWith("restart 1")).count());
    assertEquals(List.of("0: rank 2 exit, 1 of 2"), logs.events());

    Path home = gang.project().resolve(".gpush/logs");
    launcher.fetch(1, home, talk);
    assertEquals("restart 1\n", Files.readString(home.resolve("rank-3.log")));
    assertEquals("restart 0\n", Files.readString(home.resolve("attempt-1/rank-3.log")));
    assertEquals("*\n", Files.readString(home.resolve(".gitignore")));
  }

  @Test
  void warmRanksAreForkedFromAnInterpreterOfTheirNode() throws Exception {
    gang.put("train.py", "import decimal, os\nprint('rank', os.environ['RANK'])\n");
    RunRequest request = Asked.with(WARM, asked("train.py"));
    Optional<Integer> status = follow(launch(request).number());
    assertTrue(
        output.lines().stream().anyMatch(line -> line.contains("started cold: the first run")),
        output.lines()::toString);

    // Each try is a whole run, so the interpreters have all the time that they need.
    for (int tries = 0; tries < 100 && startedCold() > tries; tries++) {
      status = follow(launch(request).number());
    }

    int runs = (int) output.lines().stream().filter(line -> line.endsWith(" rank 3")).count();
    assertTrue(startedCold() < runs, output.lines()::toString);
    assertEquals(Optional.of(0), status);
  }

  @Test
  void theOutputThatNodesHaveSweptIsNamed() throws Exception {
    launch(asked("echo hello"));
    follow(1);
    gang.calls(0).call("run.stop", Json.object("run", 1, "forget", true));

    var logs = new FakeOutput();
    assertEquals(Optional.of(0), launcher.follow(1, FakeOutput.UP_TO_NOW, logs));
    assertEquals(List.of("1/1 hello"), logs.lines());
    assertEquals(
        List.of("0: the output on node 0 is not kept: a node keeps the last 50 runs, of all 8 GB"),
        logs.events());
  }

  /** Runs of which a node had no interpreter. */
  private int startedCold() {
    List<String> lines = output.lines();
    return (int)
        IntStream.range(0, 2)
            .mapToLong(
                node ->
                    lines.stream()
                        .filter(line -> line.startsWith(node + "/") && line.contains("cold: "))
                        .count())
            .max()
            .orElse(0);
  }

  @Test
  void onlyProgramsHaveWarmRanks() {
    GpushException refused =
        assertThrows(GpushException.class, () -> launch(Asked.with(WARM, asked("nvidia-smi"))));
    assertEquals(
        new UsageFailure.BadArguments(
            "run",
            "--warm is for ranks of a Python program, and nvidia-smi starts its processes by"
                + " itself",
            List.of()),
        refused.failure());
  }

  @Test
  void theLastRestartIsTheResult() throws Exception {
    RunView run = launch(Asked.with(TWICE, asked("echo try ${GPUSH_RESTART:-0}; exit 4")));

    assertEquals(Optional.of(4), follow(run.number()));
    assertEquals(RunView.State.FAILED, launcher.find(Optional.empty()).state());
    assertTrue(output.lines().contains("1/1 try 2"), output.lines()::toString);
  }

  @Test
  void aCommandHasNoNumberOfRanks() {
    var failed =
        assertThrows(
            GpushException.class,
            () -> launch(Asked.with(new RunRequest.Ranks(Optional.of(2), 0), asked("nvidia-smi"))));

    assertEquals(
        new UsageFailure.BadArguments(
            "run",
            "--nproc is a number of ranks, and nvidia-smi runs once per node; only Python programs"
                + " and launchers have ranks",
            List.of()),
        failed.failure());
  }
}
