package dev.gpush.backends.slurm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.rig.SlurmRig;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A gang larger than the login node's MaxSessions. */
@ResourceLock(SlurmRig.MANY)
@Tag("slurm")
final class SlurmManyTest {
  @Test
  void sixteenNodesAreOneConnection() throws Exception {
    try (var place = SlurmPlace.of("many")) {
      long before = place.rig().logins();

      Gang gang = place.backend().reserve(place.request(16, "H100:1", BackendContract.LONG));
      var relays = new ArrayList<Pipe>();
      for (int node = 0; node < 16; node++) {
        relays.add(place.backend().spawn(gang, node, List.of("sh", "-c", "hostname; exec cat")));
      }
      for (int node = 0; node < 16; node++) {
        String host = gang.nodes().get(node).host() + "\n";
        assertEquals(host, new String(relays.get(node).output().readNBytes(host.length()), UTF_8));
      }
      for (Pipe relay : relays) {
        relay.close();
      }

      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
      assertEquals(1, place.rig().logins() - before);
    }
  }
}
