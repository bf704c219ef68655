package dev.gpush.backends.kubernetes.pods;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import java.security.SecureRandom;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

final class BorrowedPodsTest {
  private static final String POD =
      """
      {"metadata": {"name": "train-0"},
       "spec": {"containers": [{"name": "main"}]},
       "status": {"phase": "Running", "containerStatuses": [
         {"name": "main", "state": {"running": {}}}]}}
      """;

  /** The agents that may run already are ended, and the first failure is the one that is heard. */
  @Test
  void aReservationThatIsInterruptedEndsItsAgents() throws Exception {
    var answers = new ConcurrentHashMap<>(Map.of("/api/v1/namespaces/default/pods/train-0", POD));
    var random = new SecureRandom();
    var settings = KubernetesSettings.of(new BackendConfig("k8s", "kubernetes", Json.object(), ""));
    var place = new Namespace("k8s", settings, new RecordedServer(answers), Clock.system());
    GangRequest request =
        GangRequest.of(
            new GangId("0123456789abcdef"),
            new Requester("ann@lab", "here", "devbox", "project"),
            2,
            GpuRequest.none(),
            BackendContract.LONG);
    try (Tasks tasks = Tasks.named("borrowed", (_, _) -> {})) {
      var agents =
          new PodAgents(
              place, new AgentImage(tasks, random), new WaitingPipes(Clock.system()), tasks);
      var gangs = new AttachedGangs(place, agents, tasks, random);

      Thread.currentThread().interrupt();
      GpushException failed =
          assertThrows(GpushException.class, () -> gangs.take(request, "pod/train-0"));

      assertTrue(Thread.interrupted());
      assertEquals(new BackendFailure.ReserveFailed("k8s", "it has 1 pod now"), failed.failure());
      assertEquals("main", answers.get("EXEC train-0"));
    }
  }
}
