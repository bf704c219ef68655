package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Options of run with real ranks, on two agents of this machine, each with two slots and no GPU.
 */
@Execution(ExecutionMode.CONCURRENT)
final class LauncherOptionsTest {
  private static final RunRequest.Ranks TWICE = new RunRequest.Ranks(Optional.empty(), 2);

  private AgentGang gang;
  private Launcher launcher;
  private final FakeTalk talk = new FakeTalk();
  private final FakeOutput output = new FakeOutput();

  @BeforeEach
  void open() throws Exception {
    gang = new AgentGang(2, List.of("0", "1"));
    launcher = gang.launcher();
  }

  @AfterEach
  void close() throws IOException {
    launcher.close();
    gang.close();
  }

  private RunView launch(RunRequest request) throws InterruptedException {
    return launcher.launch(
        request,
        new LaunchInput(
            1,
            Optional.of("python3"),
            Map.of("FROM", "client", "OVER", "client"),
            Map.of(),
            _ -> Optional.empty(),
            RunEnding.usual()),
        talk);
  }

  private RunRequest asked(String... words) {
    return Asked.run(gang.project(), words);
  }

  private Optional<Integer> follow(int run) throws InterruptedException {
    return launcher.follow(run, Set.of(), true, output);
  }

  @Test
  void nodesWithoutGpusTakeAnyNumberOfRanks() throws Exception {
    gang.put("train.py", Rig.example("hello/train.py"));

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
    gang.put(
        "train.py",
        """
        import os, sys, time
        rank, restart = os.environ["RANK"], os.environ.get("GPUSH_RESTART", "0")
        print("restart", restart)
        if restart == "0":
            if rank == "2":
                sys.exit(3)
            time.sleep(1000)
        """);

    RunView run = launch(Asked.with(TWICE, asked("train.py")));

    assertTrue(run.header().endsWith(" · up to 2 restarts"), run::header);
    assertEquals(Optional.of(0), follow(1), output.lines()::toString);
    assertTrue(
        output
            .events()
            .contains(
                "0: rank 2 failed first, with status 3; all ranks start again (restart 1 of 2)"),
        output.events()::toString);
    assertEquals(4, output.lines().stream().filter(line -> line.endsWith("restart 1")).count());
    assertEquals("done", launcher.find(Optional.of(1)).state());
  }

  @Test
  void theLastRestartIsTheResult() throws Exception {
    RunView run = launch(Asked.with(TWICE, asked("echo try ${GPUSH_RESTART:-0}; exit 4")));

    assertEquals(Optional.of(4), follow(run.number()));
    assertEquals("failed", launcher.find(Optional.empty()).state());
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
