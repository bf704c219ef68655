package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.check.CheckLevel;
import dev.gpush.core.check.CheckReport;
import dev.gpush.core.check.CheckReport.Verdict;
import dev.gpush.core.check.CheckStep;
import dev.gpush.core.run.RunRequest;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Checks of real agents on this machine. */
final class CheckGangTest {
  private final FakeTalk talk = new FakeTalk();

  private CheckReport check(AgentGang gang, Launcher launcher, CheckLevel level)
      throws InterruptedException {
    return launcher.check(
        new RunRequest.Command(List.of(), gang.project(), Optional.empty(), Map.of()),
        new LaunchInput(
            0, Optional.empty(), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual()),
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
}
