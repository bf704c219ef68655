package dev.gpush.backends.kubernetes;

import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.rig.KubernetesRig;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The contract on a real Kubernetes: four nodes with eight GPUs each. */
@ResourceLock(KubernetesRig.PLAIN)
final class KubernetesBackendTest implements BackendContract {
  @Override
  public BackendPlace open() throws Exception {
    return KubernetesPlace.of("plain");
  }
}
