package dev.gpush.backends.kubernetes.pods;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class AttachedPodsTest {
  private static Json pod(String gpus) {
    return Json.parse(
        """
        {"spec": {"containers": [
          {"name": "trainer", "resources": {"limits": {"nvidia.com/gpu.shared": "%s"}}}]}}
        """
            .formatted(gpus));
  }

  @Test
  void gpusAreCountedAsFarAsANodeCanHaveThem() {
    assertEquals(GpuRequest.any(8), AttachedPods.gpus(pod("8")));
    assertEquals(Optional.empty(), AttachedPods.gpus(pod("2k")));
    assertEquals(Optional.empty(), AttachedPods.gpus(pod("8G")));
  }

  @Test
  void theContainerOfOtherPeoplesPodsIsTheOneThatKubectlWouldTake() {
    List<Json> two = List.of(Json.object("name", "proxy"), Json.object("name", "trainer"));
    Json named =
        Json.object(
            "metadata",
            Json.object(
                "annotations", Json.object("kubectl.kubernetes.io/default-container", "trainer")),
            "spec",
            Json.object("containers", two));

    assertEquals("trainer", AttachedPods.container(named));
    assertEquals(
        "proxy", AttachedPods.container(Json.object("spec", Json.object("containers", two))));
  }
}
