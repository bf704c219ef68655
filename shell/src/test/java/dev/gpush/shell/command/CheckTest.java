package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.BusRate;
import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.CheckStep;
import dev.gpush.core.fabric.ExpectedNetwork;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.FabricRate;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.PlannedVariable;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CheckTest {
  @TempDir private Path folder;
  private final Desk desk = new Desk();

  @BeforeEach
  void files() throws IOException {
    desk.folder = folder;
    Files.writeString(folder.resolve("gang.json"), "[{}]");
    Files.writeString(folder.resolve("broken.json"), "[{\"broken\": \"node 0: no network\"}]");
    Files.writeString(folder.resolve("half.json"), "[{\"rdma\": ");
    Files.writeString(folder.resolve("text.json"), "\"eth0\"");
  }

  @Test
  void planOfAnImaginedGang() {
    desk.expect(
        """
        $ gpush check --plan --facts gang.json --env NCCL_ALGO=Ring --env NCCL_PROTO=LL
        TCP over eth0 (100G)
        1 nodes

        VARIABLE     VALUE    NODES  WHY             FROM
        NCCL_IB_HCA  (unset)  all    no RDMA device  NCCL
        NCCL_ALGO    Ring     all    kept            --env
        NCCL_PROTO   LL       all    kept            --env
        """);
  }

  @Test
  void planOfTheSession() {
    desk.sessions.add("devbox", folder, 2, GpuRequest.none());
    desk.runs.plan =
        Optional.of(
            new FabricPlan(
                2,
                "2 nodes",
                new ExpectedNetwork(
                    "8 rails of 400G InfiniBand",
                    "8 rails of 400G InfiniBand are there",
                    Optional.of(new FabricRate(3200, true))),
                List.of(
                    new PlannedVariable(
                        "NCCL_IB_HCA",
                        Optional.of("=mlx5_0:1"),
                        NodeSet.of(List.of(0, 1)),
                        "the rails",
                        "node facts",
                        Authority.DISCOVERY)),
                List.of(),
                List.of()));

    desk.expect(
        """
        $ gpush check --plan --env NCCL_ALGO=Ring
        8 rails of 400G InfiniBand
        2 nodes

        VARIABLE     VALUE      NODES  WHY        FROM
        NCCL_IB_HCA  =mlx5_0:1  all    the rails  node facts
        """);

    assertEquals(List.of(new UserVariable("NCCL_ALGO", "Ring", "--env")), desk.runs.planned);
  }

  @Test
  void aRefusedGangIsStatusOne() {
    desk.expect(
        """
        $ gpush check --plan --facts broken.json
        TCP over eth0 (100G)
        1 nodes

        VARIABLE     VALUE    NODES  WHY             FROM
        NCCL_IB_HCA  (unset)  all    no RDMA device  NCCL

        refused: node 0: no network
          cost: a hang
          try:  down
        ? 1
        """);
  }

  @Test
  void badFilesAndWordsAreNamed() {
    assertSays("gpush check --plan --facts none.json", "a file with a JSON list of node facts");
    assertSays("gpush check --plan --facts half.json", "JSON; this file is not:");
    assertSays("gpush check --plan --facts text.json", "a JSON list with the facts of each node");
    assertSays("gpush check --plan --facts gang.json --env NCCL", "--env takes NAME=VALUE");
    assertSays("gpush check --facts gang.json", "--facts needs --plan");
    assertSays("gpush check --plan --level 1", "--plan and --level cannot be used together");
    assertSays("gpush check --level 3", "--level");
  }

  private static CheckReport report(FabricFinding... findings) {
    return new CheckReport(
        CheckLevel.COLLECTIVE,
        "3 nodes, torch 2.8.0",
        List.of("gpu0", "gpu1", "gpu2"),
        List.of(
            new CheckStep("facts", CheckStep.Outcome.PASSED, "3 nodes, compared"),
            new CheckStep("cuda", CheckStep.Outcome.SKIPPED, "no GPU on any node")),
        List.of(findings),
        List.of(new BusRate(65536, 8.0), new BusRate(16 << 20, 40.0)),
        Optional.of(100.0));
  }

  @Test
  void aGangThatPasses() {
    desk.sessions.add("devbox", folder, 3, GpuRequest.none());
    desk.runs.report = Optional.of(report());

    desk.expect(
        """
        $ gpush check --level 2
        3 nodes, torch 2.8.0
        passed: facts, 3 nodes, compared
        skipped: cuda, no GPU on any node

        ALL_REDUCE  BUS GB/S  GBIT/S
        64 KiB      1.00      8.0
        16 MiB      5.00      40.0
        the network of a node carries 100 Gbit/s

        NODE  HOST  VERDICT
        0     gpu0  ok
        1     gpu1  ok
        2     gpu2  ok
        """);
    assertEquals(List.of(CheckLevel.COLLECTIVE), desk.runs.checked);
  }

  @Test
  void aFailedNodeIsStatusOneAndIsLeftOut() {
    desk.sessions.add("devbox", folder, 3, GpuRequest.none());
    desk.runs.report =
        Optional.of(
            report(
                new FabricFinding(
                    Severity.REFUSED,
                    "slow-node",
                    NodeSet.of(1),
                    "node 1 is slow",
                    "all wait",
                    "leave it out"),
                new FabricFinding(
                    Severity.WARNING, "mtu", NodeSet.of(2), "another MTU", "losses", "")));

    desk.expect(
        """
        $ gpush check
        3 nodes, torch 2.8.0
        passed: facts, 3 nodes, compared
        skipped: cuda, no GPU on any node

        ALL_REDUCE  BUS GB/S  GBIT/S
        64 KiB      1.00      8.0
        16 MiB      5.00      40.0
        the network of a node carries 100 Gbit/s

        NODE  HOST  VERDICT
        0     gpu0  ok
        1     gpu1  failed
        2     gpu2  warning

        failed: node 1 is slow
          cost: all wait
          try:  leave it out

        warning: another MTU
          cost: losses

        without what failed: gpush run --on 0,2 SCRIPT
        ? 1
        """);
    assertEquals(List.of(CheckLevel.CONNECTIONS), desk.runs.checked);
  }

  @Test
  void upSaysOnlyWhatIsWrong() {
    desk.runs.problems =
        List.of(
            new FabricFinding(
                Severity.WARNING,
                "driver",
                NodeSet.of(1),
                "node 1: older driver",
                "a hang",
                "fix"));

    FakeInvocation client = desk.client("gpush up --nodes 2");

    assertEquals(0, desk.call(client));
    assertTrue(
        client.errText().contains("warning: node 1: older driver; a hang; try: fix\n"),
        client::errText);
  }

  /** The names are a promise of docs/reference/json.md. */
  @Test
  void jsonOfAReport() throws IOException {
    desk.sessions.add("devbox", folder, 3, GpuRequest.none());
    desk.runs.report = Optional.of(report());
    FakeInvocation client = desk.client("gpush check --json");

    assertEquals(0, desk.call(client));

    Json report = Json.parse(client.outText());
    String page = Files.readString(Path.of("../docs/reference/json.md"));
    assertEquals(
        Set.of(
            "level",
            "passed",
            "gang",
            "nodes",
            "steps",
            "findings",
            "rates",
            "expected_gbits",
            "rest"),
        report.entries().keySet());
    assertEquals(
        Set.of("node", "host", "verdict"), report.items("nodes").getFirst().entries().keySet());
    assertEquals(
        Set.of("step", "outcome", "detail"), report.items("steps").getFirst().entries().keySet());
    assertEquals(Set.of("bytes", "gbits"), report.items("rates").getFirst().entries().keySet());
    for (String name :
        List.of("passed", "verdict", "outcome", "rates", "gbits", "expected_gbits", "rest")) {
      assertTrue(page.contains("`" + name + "`"), name + " is not documented");
    }
  }

  /** The names are a promise of docs/reference/json.md. */
  @Test
  void jsonIsThePlanItself() throws IOException {
    FakeInvocation client = desk.client("gpush check --plan --json --facts broken.json");

    assertEquals(1, desk.call(client));

    Json plan = Json.parse(client.outText());
    String page = Files.readString(Path.of("../docs/reference/json.md"));
    assertEquals(
        Set.of("nodes", "gang", "fabric", "better", "rate", "variables", "scripts", "findings"),
        plan.entries().keySet());
    assertEquals(
        Set.of("name", "value", "nodes", "set", "why", "from", "authority"),
        plan.items("variables").getFirst().entries().keySet());
    assertEquals(
        Set.of("severity", "kind", "nodes", "what", "cost", "try"),
        plan.items("findings").getFirst().entries().keySet());
    for (String name :
        List.of(
            "fabric",
            "better",
            "rate",
            "gbits",
            "rdma",
            "variables",
            "scripts",
            "findings",
            "authority",
            "severity",
            "cost")) {
      assertTrue(page.contains("`" + name + "`"), name + " is not documented");
    }
  }

  private void assertSays(String line, String what) {
    FakeInvocation client = desk.client(line);

    assertEquals(2, desk.call(client));
    assertTrue(client.both().contains(what), client::both);
  }
}
