package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.rig.KubernetesRig;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The contract on a real Kubernetes: four nodes with eight GPUs each. */
@ResourceLock(KubernetesRig.PLAIN)
@Tag("gate")
@Tag("kubernetes")
final class KubernetesBackendTest implements BackendContract {
  @Override
  public BackendPlace open() throws Exception {
    return KubernetesPlace.of("plain");
  }

  /** Nodes n1 and n2 are one rack, n3 and n4 another. */
  @Test
  void aGangIsKeptTogetherAndKnowsWhereItIs() throws Exception {
    try (KubernetesPlace place = KubernetesPlace.of("plain")) {
      KubernetesBackend backend = place.with(Json.object("topology", List.of(KubernetesRig.RACK)));

      Gang two = backend.reserve(place.request(2, BackendContract.LONG));
      assertEquals(1, racks(two).stream().distinct().count(), () -> racks(two).toString());
      backend.release(two, BackendContract.LIMIT);

      Gang four = backend.reserve(place.request(4, BackendContract.LONG));
      assertEquals(
          four.nodes().stream()
              .map(node -> List.of("n1", "n2").contains(node.host()) ? "r1" : "r2")
              .toList(),
          racks(four));
      assertEquals(four, backend.discover(BackendPlace.OWNER).getFirst().gang());
      backend.release(four, BackendContract.LIMIT);
    }
  }

  private static List<String> racks(Gang gang) {
    return gang.nodes().stream().map(NodeInfo::within).map(List::getFirst).toList();
  }
}
