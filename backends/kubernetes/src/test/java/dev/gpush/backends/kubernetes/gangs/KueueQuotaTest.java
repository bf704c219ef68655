package dev.gpush.backends.kubernetes.gangs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.PodShape;
import dev.gpush.backends.kubernetes.cluster.RecordedServer;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.fake.ManualClock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class KueueQuotaTest {
  private static final String API = "/apis/kueue.x-k8s.io/v1beta2";
  private static final Plan.Now NOW = new Plan.Now("2 × 8 H100");

  /** A plan for two nodes with eight GPUs; the queue gives 16 and 128 CPUs in one flavor. */
  private static Plan plan(String spec, String status, int nodes) throws Exception {
    String queue =
        """
        {"spec": {%s "resourceGroups": [{"flavors": [{"name": "a", "resources": [
            {"name": "cpu", "nominalQuota": "128"},
            {"name": "nvidia.com/gpu", "nominalQuota": "16"}]}]}]},
         "status": {%s "pendingWorkloads": 2}}
        """
            .formatted(spec, status);
    String local = "{\"metadata\": {\"name\": \"team\"}, \"spec\": {\"clusterQueue\": \"all\"}}";
    var server =
        new RecordedServer(
            Map.of(
                API + "/namespaces/default/localqueues",
                "{\"items\": [" + local + "]}",
                API + "/clusterqueues/all",
                queue));
    var config = new BackendConfig("k8s", "kubernetes", Json.object("image", "i"), "");
    var place = new Namespace("k8s", KubernetesSettings.of(config), server, new ManualClock());
    var shape =
        new PodShape(Optional.of("nvidia.com/gpu"), 8, List.of(), "H100", 64_000, 1, Map.of());
    return new KueueQuota(place, API, "team").plan(shape, nodes, NOW);
  }

  private static String used(String cpus, int gpus) {
    return """
    "flavorsReservation": [{"name": "a", "resources": [
      {"name": "cpu", "total": "%s"}, {"name": "nvidia.com/gpu", "total": "%d"}]}],
    """
        .formatted(cpus, gpus);
  }

  private static Plan later(String reason) {
    return new Plan.Later(reason, Optional.empty(), List.of());
  }

  @Test
  void comparesWhatIsLeftOfTheQuota() throws Exception {
    assertEquals(NOW, plan("", "", 2));
    assertEquals(NOW, plan("", used("64", 8), 1));
    assertEquals(
        later("the queue team has 8 of nvidia.com/gpu left, and 16 are wanted"),
        plan("", used("64", 8), 2));
    assertEquals(later("the queue team has too little of cpu left"), plan("", used("1", 0), 2));
    assertEquals(
        "the queue team gives 16 of nvidia.com/gpu, and 24 are wanted",
        plan("", "", 3) instanceof Plan.Never(var reason, _) ? reason : "");
  }

  @Test
  void aQueueThatKeepsOrderOrIsStoppedStartsNothingNow() throws Exception {
    assertEquals(
        later("the queue team starts jobs in their order, and 2 wait"),
        plan("\"queueingStrategy\": \"StrictFIFO\",", "", 1));
    assertEquals(
        later("the queue team is stopped by its administrator"),
        plan("\"stopPolicy\": \"Hold\",", "", 1));
  }

  @Test
  void whatACohortLendsIsNotKnown() throws Exception {
    assertEquals(
        new Plan.Now("2 × 8 H100, if the queue team has quota"),
        plan("\"cohortName\": \"all\",", used("1", 16), 2));
  }
}
