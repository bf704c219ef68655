package dev.gpush.backends.kubernetes.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import java.util.Map;
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
}
