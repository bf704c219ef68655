package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.fake.ManualClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class KubernetesPlanTest {
  @Test
  void aQuotaForOtherPodsDoesNotCount() throws Exception {
    String small = "\"status\": {\"hard\": {\"requests.nvidia.com/gpu\": \"1\"}}";
    String low = "{\"spec\": {\"scopes\": [\"Terminating\"]}, " + small + "}";
    String selected = "{\"spec\": {\"scopeSelector\": {\"matchExpressions\": []}}, " + small + "}";
    PodShape shape =
        new PodShape(Optional.of("nvidia.com/gpu"), 8, List.of(), "H100", 1, 1, Map.of());

    assertEquals(Optional.empty(), plan(low + "," + selected).quota(shape));
    assertInstanceOf(Plan.Never.class, plan("{" + small + "}").quota(shape).orElseThrow());
  }

  private static KubernetesPlan plan(String quotas) {
    var api =
        new RecordedServer(
            Map.of("/api/v1/namespaces/default/resourcequotas", "{\"items\": [" + quotas + "]}"));
    KubernetesSettings settings =
        KubernetesSettings.of(
            new BackendConfig("k8s", "kubernetes", Json.object("image", "i"), ""));
    return new KubernetesPlan(
        new Namespace("k8s", settings, api, new ManualClock()),
        BackendPlace.fresh(
            new SecureRandom(),
            2,
            "H100:8",
            new LeaseTerms(Optional.empty(), Duration.ofHours(1)),
            Map.of()));
  }
}
