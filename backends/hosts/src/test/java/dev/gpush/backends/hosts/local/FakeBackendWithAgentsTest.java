package dev.gpush.backends.hosts.local;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.fake.FakeBackend;
import dev.gpush.testkit.fake.FakeSite;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The fake backend with real agents; testkit itself has no agent to try it with. */
final class FakeBackendWithAgentsTest {
  @TempDir private Path folder;

  @Test
  void everyReservedNodeHasAnAgentUntilItIsReleased() throws Exception {
    try (Tasks tasks = Tasks.named("fake-agents", (_, _) -> {})) {
      var random = new SecureRandom();
      var agent = new AgentImage(tasks, random);
      var site =
          new FakeSite(
              folder.resolve("nodes"), 4, new ManualClock(), FakeTrouble.none(random.nextLong()));
      FakeBackend backend = FakeBackend.withAgents("fake", site, agent);
      var request =
          GangRequest.of(
              GangId.random(random),
              new Requester("me", "home@here", "devbox", "project"),
              2,
              GpuRequest.parse("1"),
              BackendContract.LONG);

      Gang gang = backend.reserve(request);
      for (NodeInfo node : gang.nodes()) {
        Json status = status(backend, agent, gang, node.index());
        assertEquals(node.workspace(), status.text("workspace").orElse(""));
      }
      backend.renew(gang, BackendContract.LONG);
      Path mine = Path.of(gang.nodes().getFirst().workspace(), "mine.txt");
      Files.createDirectories(mine.getParent());
      Files.writeString(mine, "keep me");
      List<String> kept = backend.release(gang, BackendContract.LIMIT);

      assertEquals(List.of("node 0: " + mine), kept);
      assertTrue(!Files.exists(Path.of(gang.nodes().getFirst().state())));
      assertThrows(IOException.class, () -> status(backend, agent, gang, 0));
    }
  }

  private static Json status(FakeBackend backend, AgentImage agent, Gang gang, int node)
      throws IOException {
    return agent.ask(
        backend.spawn(gang, node, agent.arguments(backend.interpreters(gang))),
        Json.object(
            "mode",
            "control",
            "gang",
            gang.id().text(),
            "node",
            node,
            "control",
            Json.object("do", "status")));
  }
}
