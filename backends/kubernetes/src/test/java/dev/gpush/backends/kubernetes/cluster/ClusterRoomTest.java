package dev.gpush.backends.kubernetes.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.gpush.backends.kubernetes.objects.PodShaping;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ClusterRoomTest {
  private static final String PODS =
      "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
          + "%2Cspec.nodeName%21%3D&limit=500";

  private static String pod(String name) {
    return """
        {"metadata": {"name": "%s"}, "spec": {"nodeName": "a", "containers": [
          {"resources": {"requests": {"nvidia.com/gpu": "2"}}}]}}
        """
        .formatted(name);
  }

  @Test
  void podsAreReadInPages() throws Exception {
    var api =
        new RecordedServer(
            Map.of(
                "/api/v1/nodes?limit=500",
                """
                {"metadata": {}, "items": [{"metadata": {"name": "a"},
                  "status": {"allocatable": {"nvidia.com/gpu": "8"}}}]}
                """,
                PODS,
                "{\"metadata\": {\"continue\": \"a/b=\"}, \"items\": [" + pod("x") + "]}",
                PODS + "&continue=a%2Fb%3D",
                "{\"metadata\": {\"continue\": \"\"}, \"items\": [" + pod("y") + "]}"));

    ClusterRoom room = ClusterRoom.of(api);

    assertEquals(2, room.pods().orElseThrow().size());
    assertEquals(4, room.nodes().orElseThrow().getFirst().free("nvidia.com/gpu"));
  }

  @Test
  void sidecarsAndTheOverheadOfTheRuntimeCount() {
    Json pod =
        Json.parse(
            """
            {"spec": {
              "overhead": {"cpu": "250m"},
              "initContainers": [
                {"resources": {"requests": {"cpu": "3"}}},
                {"restartPolicy": "Always", "resources": {"requests": {"cpu": "1", "gpu": "1"}}},
                {"resources": {"requests": {"cpu": "4"}}}],
              "containers": [
                {"resources": {"requests": {"cpu": "2", "gpu": "1"}}},
                {"resources": {"requests": {"gpu": "1"}}}]}}
            """);

    assertEquals(Map.of("cpu", 5250L, "gpu", 3L, "pods", 1L), ClusterRoom.requests(pod));
  }

  @Test
  void whatDaemonSetsRequestIsNoPartOfAPodsShare() throws Exception {
    var api =
        new RecordedServer(
            Map.of(
                "/api/v1/nodes?limit=500",
                """
                {"items": [{"metadata": {"name": "a"}, "status": {
                  "conditions": [{"type": "Ready", "status": "True"}],
                  "allocatable": {"cpu": "3920m", "memory": "12Gi", "pods": "110",
                    "nvidia.com/gpu": "1"}}}]}
                """,
                PODS,
                """
                {"items": [{"metadata": {"name": "x",
                    "ownerReferences": [{"kind": "DaemonSet", "name": "logs"}]},
                  "spec": {"nodeName": "a", "containers": [
                    {"resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}}]}}]}
                """));
    var lease = new LeaseTerms(Optional.empty(), Duration.ofHours(1));
    GangRequest request =
        GangRequest.of(
            new GangId("0123456789abcdef"),
            new Requester("me", "here", "devbox", "project"),
            1,
            new GpuRequest(Optional.empty(), 1),
            lease);
    KubernetesSettings settings =
        KubernetesSettings.of(
            new BackendConfig("k8s", "kubernetes", Json.object("image", "i"), ""));

    PodShaping.Result.Fits fits =
        assertInstanceOf(
            PodShaping.Result.Fits.class,
            new PodShaping(request, settings, ClusterRoom.of(api)).result());

    assertEquals(3480, fits.shape().wants().get("cpu"));
    assertEquals(Optional.of(1L), fits.places());
  }
}
