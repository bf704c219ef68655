package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fake.ManualClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An agent in another pod starts with the terms of the request. The server's clock is at 1970. */
final class LostLeaseTest {
  private static final Duration FOUR_HOURS = Duration.ofHours(4);
  private static final Duration IDLE = Duration.ofHours(1);

  private final SecureRandom random = new SecureRandom();
  private final GangRequest request =
      BackendPlace.fresh(random, 2, "0", new LeaseTerms(Optional.of(FOUR_HOURS), IDLE), Map.of());

  /**
   * What the new agent of a node gets.
   *
   * @param age of the Job, whose deadline is a minute after its four hours
   * @param status of the agent
   * @param idle the idle time of the session
   */
  private List<Json.Obj> renewals(int node, Duration age, Json.Obj status, Duration idle) {
    var config = new BackendConfig("k8s", "kubernetes", Json.object("image", "i"), "");
    var shape = new PodShape(Optional.empty(), 0, List.of(), "", 4000, 1 << 30, Map.of());
    var none = new Topology(List.of());
    Json.Obj job =
        new GangObjects(request, KubernetesSettings.of(config), shape, true, none)
            .job(List.of("agent"))
            .with("status", Json.object("startTime", Instant.EPOCH.minus(age).toString()));
    var answers = new HashMap<String, String>();
    String ours = "?labelSelector=" + ApiServer.encoded(PodTag.selector(request.gang()));
    answers.put("/apis/batch/v1/namespaces/default/jobs" + ours, items(job));
    answers.put("/api/v1/namespaces/default/pods" + ours, items());
    answers.put("/api/v1/nodes?limit=500", items());
    var renewals = new ArrayList<Json.Obj>();
    try (Tasks tasks = Tasks.named("lost", (_, _) -> {})) {
      KubernetesBackend.over(
              new RecordedServer(answers),
              config,
              new AgentImage(tasks, random),
              tasks,
              new ManualClock(),
              random)
          .capabilities()
          .agentLinks()
          .orElseThrow()
          .withLinks(
              (_, nodes, control, _) -> {
                if (control.text("do").orElse("").equals("renew")) {
                  renewals.add(control);
                }
                return Map.of(nodes.iterator().next(), status);
              })
          .capabilities()
          .agentRestarts()
          .orElseThrow()
          .of(gang(), node, idle);
    }
    return renewals;
  }

  private Gang gang() {
    NodeInfo zero = new NodeInfo(0, "n0", "", List.of(), "", 4, "/workspace/project");
    NodeInfo one = new NodeInfo(1, "n1", "", List.of(), "", 4, "/workspace/project");
    return new Gang(request.gang(), "k8s", List.of(zero, one), "");
  }

  private static String items(Json... items) {
    return Json.object("items", List.of(items)).write();
  }

  private static Json.Obj status(Duration left, Duration idle) {
    return Json.object(
        "hard_left_s", left.toSeconds(), "idle_left_s", idle.toSeconds() - 3, "idle_for_s", 3);
  }

  @Test
  void theNewAgentEndsBeforeTheDeadlineOfTheJob() {
    Duration age = Duration.ofMinutes(230);

    Json.Obj renewal = renewals(0, age, status(FOUR_HOURS, IDLE), IDLE).getFirst();

    assertEquals(Optional.of(600L), renewal.number("hard_s"));
    assertEquals(Optional.of(3600L), renewal.number("idle_s"));
  }

  @Test
  void theNewAgentHasTheIdleTimeOfTheSession() {
    Duration longer = Duration.ofHours(8);

    Json.Obj renewal = renewals(0, Duration.ZERO, status(FOUR_HOURS, IDLE), longer).getFirst();

    assertEquals(Optional.of(longer.toSeconds()), renewal.number("idle_s"));
  }

  /** It would count as activity, and an agent that is killed again and again is idle. */
  @Test
  void anAgentWithTheLeaseIsNotGivenItAgain() {
    Duration age = Duration.ofMinutes(230);
    Json.Obj kept = status(Duration.ofMinutes(10), IDLE);

    assertEquals(List.of(), renewals(0, age, kept, IDLE));
    assertEquals(List.of(), renewals(1, age, status(FOUR_HOURS, IDLE), IDLE), "node 0 tells it");
  }
}
