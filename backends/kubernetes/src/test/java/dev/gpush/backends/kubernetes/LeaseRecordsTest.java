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
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fake.ManualClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The lease for an agent in another pod. The server's clock is at 1970. */
final class LeaseRecordsTest {
  private static final Duration FOUR_HOURS = Duration.ofHours(4);
  private static final Duration IDLE = Duration.ofHours(1);

  private final SecureRandom random = new SecureRandom();

  private GangRequest request(Optional<Duration> hardEnd) {
    return BackendPlace.fresh(random, 2, "0", new LeaseTerms(hardEnd, IDLE), Map.of());
  }

  private static Json.Obj job(GangRequest request, Duration age) {
    var shape = new PodShape(Optional.empty(), 0, List.of(), "", 4000, 1 << 30, Map.of());
    return new GangObjects(
            request, KubernetesSettings.of(config()), shape, true, new Topology(List.of()))
        .job(List.of("agent"))
        .with("status", Json.object("startTime", Instant.EPOCH.minus(age).toString()));
  }

  private static BackendConfig config() {
    return new BackendConfig("k8s", "kubernetes", Json.object("image", "i"), "");
  }

  private Optional<LeaseTerms> lease(GangRequest request, Json... jobs) {
    String ours = "?labelSelector=" + ApiServer.encoded(PodTag.selector(request.gang()));
    String found = Json.object("items", List.of(jobs)).write();
    var answers = Map.of("/apis/batch/v1/namespaces/default/jobs" + ours, found);
    try (Tasks tasks = Tasks.named("lease", (_, _) -> {})) {
      return KubernetesBackend.over(
              new RecordedServer(new HashMap<>(answers)),
              config(),
              new AgentImage(tasks, random),
              tasks,
              new ManualClock(),
              random)
          .capabilities()
          .leaseRecords()
          .orElseThrow()
          .lease(new Gang(request.gang(), "k8s", List.of(), ""), IDLE);
    }
  }

  @Test
  void endsBeforeTheDeadlineOfTheJob() {
    GangRequest request = request(Optional.of(FOUR_HOURS));

    assertEquals(
        Optional.of(new LeaseTerms(Optional.of(Duration.ofMinutes(10)), IDLE)),
        lease(request, job(request, Duration.ofMinutes(230))));
    assertEquals(
        Optional.of(new LeaseTerms(Optional.of(Duration.ZERO), IDLE)),
        lease(request, job(request, Duration.ofHours(5))));
  }

  @Test
  void hasNoHardEndWithoutADeadline() {
    GangRequest request = request(Optional.empty());

    assertEquals(
        Optional.of(new LeaseTerms(Optional.empty(), IDLE)),
        lease(request, job(request, Duration.ofHours(5))));
  }

  @Test
  void isNotKnownWithoutAJob() {
    assertEquals(Optional.empty(), lease(request(Optional.empty())));
  }
}
