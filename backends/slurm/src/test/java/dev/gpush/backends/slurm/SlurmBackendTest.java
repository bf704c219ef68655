package dev.gpush.backends.slurm;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;

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

  /**
   * srun says on a line of its own that the command has failed, perhaps before it has passed all
   * on.
   */
  @Override
  public void assertErrors(byte[] expected, byte[] errors) {
    String passed = new String(errors, ISO_8859_1).replaceAll("srun: [^\n]*\n", "");
    assertEquals(new String(expected, ISO_8859_1), passed);
  }
}
