package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.core.backend.AgentRestart;
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

  /** What the new agent was given. */
  private final List<Json.Obj> renewals = new ArrayList<>();

  private boolean isRenewalAnswered = true;

  /**
   * A new agent of a node.
   *
   * @param age of the Job, whose deadline is a minute after its four hours
   * @param from where the agent has its lease from
   * @param idle the idle time of the session
   */
  private AgentRestart restart(int node, Duration age, String from, Duration idle) {
    Json status = Json.object("lease_from", from);
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
    try (Tasks tasks = Tasks.named("lost", (_, _) -> {})) {
      return KubernetesBackend.over(
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
                  return isRenewalAnswered ? Map.of(0, status) : Map.of();
                }
                return Map.of(nodes.iterator().next(), status);
              })
          .capabilities()
          .agentRestarts()
          .orElseThrow()
          .of(gang(), node, idle);
    }
  }

  private Gang gang() {
    NodeInfo zero = new NodeInfo(0, "n0", "", List.of(), "", 4, "/workspace/project");
    NodeInfo one = new NodeInfo(1, "n1", "", List.of(), "", 4, "/workspace/project");
    return new Gang(request.gang(), "k8s", List.of(zero, one), "");
  }

  private static String items(Json... items) {
    return Json.object("items", List.of(items)).write();
  }

  @Test
  void theNewAgentEndsBeforeTheDeadlineOfTheJob() {
    restart(0, Duration.ofMinutes(230), "start", IDLE);

    assertEquals(Optional.of(600L), renewals.getFirst().number("hard_s"));
    assertEquals(Optional.of(3600L), renewals.getFirst().number("idle_s"));
  }

  @Test
  void theNewAgentHasTheIdleTimeOfTheSession() {
    Duration longer = Duration.ofHours(8);

    restart(0, Duration.ZERO, "start", longer);

    assertEquals(Optional.of(longer.toSeconds()), renewals.getFirst().number("idle_s"));
  }

  /** After gpush adopt, for one, the session does not know the idle time of the agents. */
  @Test
  void anAgentThatWasGivenALeaseKeepsIt() {
    Duration age = Duration.ofMinutes(230);

    restart(0, age, "recalled", Duration.ofHours(8));
    restart(0, age, "renewed", Duration.ofHours(8));
    restart(1, age, "start", IDLE); // Node 0 sends it the lease.

    assertEquals(List.of(), renewals);
  }

  @Test
  void theRestartIsKnownAlsoWhereTheLeaseCannotBeGiven() {
    AgentRestart expected = restart(0, Duration.ZERO, "start", IDLE);
    isRenewalAnswered = false;

    AgentRestart found = restart(0, Duration.ZERO, "start", IDLE);

    assertEquals(expected, found);
    assertEquals(2, renewals.size());
  }
}
