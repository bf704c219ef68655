package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.CheckReport.Verdict;
import dev.gpush.core.fabric.CheckStep;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.run.RunRequest;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.testkit.fixture.Asked;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks of real agents on this machine. */
@Tag("local")
final class CheckGangTest {
  private final FakeTalk talk = new FakeTalk();

  /** Makes each all_reduce of node 2 late, in whatever Python starts with it on its path. */
  private static final String SLOW =
      """
      import builtins, sys, time
      with open("/proc/self/cmdline") as file:
          words = file.read()
      if '"node":2' in words.replace(" ", "") and '"local"' in words:
          load = builtins.__import__
          def slow(*arguments, **options):
              module = load(*arguments, **options)
              torch = sys.modules.get("torch.distributed")
              if hasattr(torch, "destroy_process_group") and not hasattr(torch, "quick"):
                  torch.quick = torch.all_reduce
                  def late(*arguments, **options):
                      time.sleep(0.2)
                      return torch.quick(*arguments, **options)
                  torch.all_reduce = late
              return module
          builtins.__import__ = slow
      """;

  private CheckReport check(AgentGang gang, Launcher launcher, CheckLevel level)
      throws InterruptedException {
    return check(gang, launcher, level, Optional.empty(), Map.of());
  }

  private CheckReport check(
      AgentGang gang,
      Launcher launcher,
      CheckLevel level,
      Optional<String> python,
      Map<String, String> environment)
      throws InterruptedException {
    return launcher.check(
        new RunRequest.Command(List.of(), gang.project(), python, Map.of(), Map.of()),
        new LaunchInput(
            0, Optional.empty(), environment, Map.of(), _ -> Optional.empty(), RunEnding.usual()),
        List.of(),
        level,
        talk);
  }

  private static List<String> steps(CheckReport report) {
    return report.steps().stream()
        .map(each -> each.outcome().word() + " " + each.name() + ": " + each.detail())
        .toList();
  }

  @Test
  void eachNodeConnectsWithEachOther() throws Exception {
    try (var gang = new AgentGang(3, List.of("0"));
        Launcher launcher = gang.launcher()) {
      CheckReport report = check(gang, launcher, CheckLevel.CONNECTIONS);

      assertTrue(report.isPassed(), report.findings()::toString);
      assertTrue(
          steps(report)
              .containsAll(
                  List.of(
                      "passed facts: 3 nodes, one machine",
                      "skipped cuda: no GPU on any node",
                      "passed tcp: 6 connections over lo")),
          steps(report)::toString);
      assertEquals(Verdict.OK, report.verdict(2), report.findings()::toString);
    }
  }

  @Test
  void levelZeroConnectsNothing() throws Exception {
    try (var gang = new AgentGang(2, List.of("0"));
        Launcher launcher = gang.launcher()) {
      CheckReport report = check(gang, launcher, CheckLevel.FACTS);

      assertEquals(List.of("facts"), report.steps().stream().map(CheckStep::name).toList());
    }
  }

  @Test
  void aSlowNodeIsNamedByItsPairs() throws Exception {
    String python = PythonRigs.torchPython();
    try (var gang = new AgentGang(4, List.of("0"));
        Launcher launcher = gang.launcher()) {
      gang.put("sitecustomize.py", SLOW);
      Map<String, String> slow = Map.of("PYTHONPATH", gang.project().toString());

      CheckReport report = check(gang, launcher, CheckLevel.COLLECTIVE, Optional.of(python), slow);

      // A machine that is busy with other work may make another of its nodes slow too.
      List<FabricFinding> failed =
          report.findings().stream().filter(FabricFinding::isRefusal).toList();
      assertTrue(
          failed.stream()
              .anyMatch(
                  each ->
                      each.kind().equals("slow-node")
                          && each.what().startsWith("node 2 is slow: ")),
          failed::toString);
      assertEquals(Verdict.FAILED, report.verdict(2));
      assertFalse(report.rest().orElseThrow().numbers().contains(2), failed::toString);
      assertEquals(65536, report.rates().getFirst().bytes());
      assertEquals(Optional.empty(), report.expectedGbits());
    }
  }

  @Test
  void aRunOnTheNodesKeepsTheCollectiveAway() throws Exception {
    String python = PythonRigs.torchPython();
    try (var gang = new AgentGang(2, List.of("0"));
        Launcher launcher = gang.launcher()) {
      var input =
          new LaunchInput(
              1, Optional.empty(), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual());
      launcher.launch(Asked.run(gang.project(), "sleep", "1000"), input, new FakeTurn(), talk);

      CheckReport report =
          check(gang, launcher, CheckLevel.COLLECTIVE, Optional.of(python), Map.of());

      assertTrue(
          steps(report).contains("skipped collective: run 1 uses the nodes"),
          steps(report)::toString);
      assertFalse(report.isPassed());
      launcher.stop(1, "KILL", Duration.ZERO, talk);
    }
  }

  @Test
  void withoutTorchThereIsNoCollective() throws Exception {
    try (var gang = new AgentGang(2, List.of("0"));
        Launcher launcher = gang.launcher()) {
      CheckReport report =
          check(gang, launcher, CheckLevel.COLLECTIVE, Optional.of("/usr/bin/python3"), Map.of());

      assertTrue(
          steps(report).contains("skipped collective: no torch in the Python of every node"),
          steps(report)::toString);
      assertFalse(report.isPassed());
    }
  }
}
