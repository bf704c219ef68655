package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
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
                "8 rails of 400G InfiniBand",
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
    assertSays("gpush check", "not supported yet");
  }

  /** The names are a promise of docs/reference/json.md. */
  @Test
  void jsonIsThePlanItself() throws IOException {
    FakeInvocation client = desk.client("gpush check --plan --json --facts broken.json");

    assertEquals(1, desk.call(client));

    Json plan = Json.parse(client.outText());
    String page = Files.readString(Path.of("../docs/reference/json.md"));
    assertEquals(
        Set.of("nodes", "gang", "fabric", "variables", "scripts", "findings"),
        plan.entries().keySet());
    assertEquals(
        Set.of("name", "value", "nodes", "set", "why", "from", "authority"),
        plan.items("variables").getFirst().entries().keySet());
    assertEquals(
        Set.of("severity", "kind", "nodes", "what", "cost", "try"),
        plan.items("findings").getFirst().entries().keySet());
    for (String name :
        List.of("fabric", "variables", "scripts", "findings", "authority", "severity", "cost")) {
      assertTrue(page.contains("`" + name + "`"), name + " is not documented");
    }
  }

  private void assertSays(String line, String what) {
    FakeInvocation client = desk.client(line);

    assertEquals(2, desk.call(client));
    assertTrue(client.both().contains(what), client::both);
  }
}
