package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the rig's cluster does not do: hidden partitions. */
final class FakeSlurmTest {
  private static final Duration EIGHT_HOURS = Duration.ofHours(8);

  @TempDir private Path folder;
  private FakeSlurm slurm;

  @BeforeEach
  void begin() throws Exception {
    slurm = new FakeSlurm(folder);
  }

  @AfterEach
  void end() {
    slurm.close();
  }

  @Test
  void aJobInAHiddenPartitionIsNotGone() {
    assertEquals(new Observation.Exists(), slurm.backend(Json.object()).observe(FakeSlurm.gang()));
  }

  @Test
  void aHiddenPartitionIsUsedWhenItIsNamed() {
    SlurmBackend named = slurm.backend(Json.object("partition", List.of("lab")));
    assertInstanceOf(Plan.Now.class, named.plan(FakeSlurm.request(EIGHT_HOURS)));
    assertTrue(named.describe().endsWith("partitions lab"), named::describe);

    SlurmBackend unnamed = slurm.backend(Json.object());
    assertInstanceOf(Plan.Never.class, unnamed.plan(FakeSlurm.request(EIGHT_HOURS)));
  }
}
