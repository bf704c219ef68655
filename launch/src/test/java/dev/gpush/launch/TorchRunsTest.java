package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.testkit.fixture.Asked;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real torch, real torchrun, on two real agents; needs the torch rig. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("training")
final class TorchRunsTest {
  private static String python = "";

  private final FakeTalk talk = new FakeTalk();
  private final FakeOutput output = new FakeOutput();

  @BeforeAll
  static void rig() throws Exception {
    python = PythonRigs.torchPython();
  }

  private RunView launch(AgentGang gang, Launcher launcher, String chosen, String... words)
      throws InterruptedException {
    RunRequest request = Asked.by(chosen, Asked.run(gang.project(), words));
    return launcher.launch(request, input(), new FakeTurn(), talk);
  }

  private static LaunchInput input() {
    return new LaunchInput(
        3, Optional.empty(), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual());
  }

  /** What torchrun printed itself. */
  private List<String> ofLauncher() {
    return output.lines().stream().filter(line -> line.contains("/-1")).toList();
  }

  @Test
  void trainsOnTwoNodes() throws Exception {
    try (var gang = new AgentGang(2, List.of("0"));
        Launcher launcher = gang.launcher()) {
      gang.put("train.py", PythonRigs.example("ddp/train.py"));

      RunView run = launch(gang, launcher, python, "train.py", "--steps", "3");

      assertEquals(
          Optional.of(0),
          launcher.follow(run.number(), FakeOutput.UNTIL_ITS_END, output),
          output.lines()::toString);
      assertEquals("torchrun", run.launched().mode());
      assertTrue(run.header().contains("torch 2."), run::header);
      assertTrue(
          output.lines().stream().anyMatch(line -> line.startsWith("0/0 step 3 loss 0.")),
          output.lines()::toString);
      assertTrue(output.lines().contains("0/0 rank 0 of 2 on cpu: done"));
      assertTrue(output.lines().contains("1/1 rank 1 of 2 on cpu: done"));
      assertEquals(List.of(), ofLauncher());
    }
  }

  /** Ranks that had met before meet again, which they do not when torchrun itself restarts them. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void allRanksStartAgainAfterAFailure(int nodes) throws Exception {
    try (var gang = new AgentGang(nodes, List.of("0", "1"));
        Launcher launcher = gang.launcher()) {
      gang.put(
          "train.py",
          "import os, sys, time\n"
              + "import torch, torch.distributed as dist\n"
              + "dist.init_process_group('gloo')\n"
              + "restart = os.environ.get('GPUSH_RESTART', '0')\n"
              + "if restart == '0':\n"
              + "    if dist.get_rank() == 1:\n"
              + "        sys.exit(5)\n"
              + "    time.sleep(1000)\n"
              + "total = torch.ones(1)\n"
              + "dist.all_reduce(total)\n"
              + "print('restart', restart, 'sum', int(total))\n");
      RunRequest request =
          Asked.with(
              new RunRequest.Ranks(Optional.empty(), 1),
              Asked.by(python, Asked.run(gang.project(), "train.py")));

      RunView run = launcher.launch(request, input(), new FakeTurn(), talk);

      assertTrue(run.header().endsWith(" · up to 1 restart"), run::header);
      assertEquals(
          Optional.of(0),
          launcher.follow(run.number(), FakeOutput.UNTIL_ITS_END, output),
          output.lines()::toString);
      assertEquals(
          2 * nodes,
          output.lines().stream()
              .filter(line -> line.endsWith("restart 1 sum " + 2 * nodes))
              .count(),
          output.lines()::toString);
    }
  }

  @Test
  void failingRankOfTorchrunIsTheStatus() throws Exception {
    try (var gang = new AgentGang(2, List.of("0"));
        Launcher launcher = gang.launcher()) {
      gang.put(
          "train.py",
          "import os, sys, time\n"
              + "if os.environ['RANK'] == '1':\n"
              + "    sys.exit(9)\n"
              + "time.sleep(1000)\n");

      launch(gang, launcher, python, "torchrun", "--nnodes", "7", "train.py");

      assertEquals(
          Optional.of(9),
          launcher.follow(1, FakeOutput.UNTIL_ITS_END, output),
          output.lines()::toString);
      assertEquals(List.of(), output.events());
      assertEquals(List.of(), ofLauncher());
      assertEquals(1, launcher.find(Optional.of(1)).failure().orElseThrow().rank());
      assertEquals(RunView.State.FAILED, launcher.find(Optional.of(1)).state());
    }
  }
}
