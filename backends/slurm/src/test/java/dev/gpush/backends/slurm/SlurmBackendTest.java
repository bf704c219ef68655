package dev.gpush.backends.slurm;

import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.rig.SlurmRig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The contract on a real Slurm: four nodes with eight GPUs each. */
@ResourceLock(SlurmRig.DEFAULT)
@Tag("gate")
@Tag("slurm")
final class SlurmBackendTest implements BackendContract {
  @Override
  public BackendPlace open() throws Exception {
    return SlurmPlace.of("default");
  }
}
