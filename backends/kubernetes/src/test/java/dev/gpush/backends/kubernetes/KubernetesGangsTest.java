package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.rig.KubernetesRig;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Systems that place all pods of a gang together, for real: Kubernetes' own, and Kueue. */
@ResourceLock(KubernetesRig.GANGS)
@Tag("kubernetes")
final class KubernetesGangsTest {
  private static final int ROUNDS =
      Integer.getInteger("gpush.rounds", Boolean.getBoolean("gpush.long") ? 50 : 1);

  private static KubernetesPlace place() throws Exception {
    return KubernetesPlace.of("gangs");
  }

  @Test
  void theSystemIsFoundByWhatIsThere() throws Exception {
    try (KubernetesPlace place = place()) {
      assertEquals(
          "gangs by native: podgroups of scheduling.k8s.io are served", gangs(place.backend()));
      assertEquals("gangs by plain: gang: plain", gangs(place.with(Json.object("gang", "plain"))));

      place.giveQueue("team", "research");
      assertEquals(
          "gangs by kueue: the cluster has Kueue, with a queue for this namespace",
          gangs(place.backend()));
      BackendFailure.Unavailable other =
          assertInstanceOf(
              BackendFailure.Unavailable.class,
              assertThrows(
                      GpushException.class,
                      () -> place.with(Json.object("queue", "nobody")).explain())
                  .failure());
      assertEquals(
          "its namespace " + place.namespace() + " has no LocalQueue nobody; there are team",
          other.reason());
      assertInstanceOf(
          BackendFailure.Unavailable.class,
          assertThrows(
                  GpushException.class, () -> place.with(Json.object("gang", "volcano")).explain())
              .failure());
    }
  }

  private static String gangs(KubernetesBackend backend) {
    return backend.explain().get(1);
  }

  @Test
  @Timeout(Race.LONGEST)
  void nativeGangsThatRaceNeverHoldAPart() throws Exception {
    try (KubernetesPlace place = place()) {
      new Race(place, 3, "nodes are available: ").run(ROUNDS);
    }
  }

  @Test
  @Timeout(Race.LONGEST)
  void gangsInKueueThatRaceNeverHoldAPart() throws Exception {
    try (KubernetesPlace place = place()) {
      place.giveQueue("team", "research");
      new Race(place, 2, "insufficient unused quota for nvidia.com/gpu").run(ROUNDS);
    }
  }

  @Test
  void kueueSaysWhatCanNeverBe() throws Exception {
    try (KubernetesPlace place = place()) {
      place.giveQueue("team", "research");

      BackendFailure.NeverFits never =
          assertInstanceOf(
              BackendFailure.NeverFits.class,
              assertThrows(
                      GpushException.class,
                      () -> place.backend().reserve(place.request(3, BackendContract.LONG)))
                  .failure());

      assertTrue(never.reason().contains("nvidia.com/gpu"), never::reason);
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Kueue goes by quota: it lets begin what the nodes have no room for. */
  @Test
  void whatKueueLetsBeginAndNoNodeTakesGoesBack() throws Exception {
    try (KubernetesPlace place = place();
        Tasks tasks = Tasks.named("back", (_, _) -> {})) {
      place.giveQueue("team", "research");
      KubernetesBackend backend = place.with(Json.object("assembly", 3, "cpus", 1));
      List<String> closed = List.of("n2", "n3", "n4");
      for (String node : closed) {
        place.rig().kubectl("cordon", node);
      }
      var heard = new LinkedBlockingQueue<String>();
      GangRequest request = place.request(2, BackendContract.LONG);
      Task<Gang, RuntimeException> waiting =
          tasks.fork("gang", () -> backend.reserve(request, heard::add));
      try {
        KubernetesPlace.until(
            () -> heard.stream().anyMatch(word -> word.contains("of 2 pods were placed")));
        KubernetesPlace.until(
            () ->
                place
                    .kubectl("get", "pods", "-l", PodTag.selector(request.gang()), "-o", "name")
                    .isEmpty());
      } finally {
        for (String node : closed) {
          place.rig().kubectl("uncordon", node);
        }
      }

      Gang gang = waiting.get(BackendContract.LIMIT);

      assertEquals(2, gang.nodes().size());
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Where Kueue places pods itself they come into one rack, and ranks know which. */
  @Test
  void aGangThatKueuePlacesIsKeptTogether() throws Exception {
    try (KubernetesPlace place = place()) {
      place.giveQueue("team", "near");
      KubernetesBackend backend =
          place.with(Json.object("topology", List.of(KubernetesRig.RACK), "cpus", 1));
      assertTrue(gangs(backend).startsWith("gangs by kueue"), gangs(backend));

      Gang gang = backend.reserve(place.request(2, BackendContract.LONG));

      List<List<String>> within = gang.nodes().stream().map(NodeInfo::within).toList();
      assertEquals(1, within.getFirst().size());
      assertEquals(within.getFirst(), within.getLast());
      String admission =
          place.kubectl(
              "get", "workloads.kueue.x-k8s.io", "-o", "jsonpath={.items[*].status.admission}");
      assertTrue(admission.contains("topologyAssignment"), admission);
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }
}
