package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Idle nodes with a client that stays connected, in real seconds. */
final class IdleSessionIT {
  /** What {@code sleep 100 | ssh devbox bash} is to a node: its input stays open and is empty. */
  @Test
  void aConnectionThatIsOnlyOpenDoesNotKeepTheNode() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "1").succeeded();
      Process waits = world.start(world.project(), world.ssh("devbox", "bash"));
      OutputStream typed = waits.getOutputStream();
      typed.write("echo ready\n".getBytes(StandardCharsets.UTF_8));
      typed.flush();
      byte[] ready = waits.getInputStream().readNBytes(6);
      assertEquals("ready\n", new String(ready, StandardCharsets.UTF_8));
      world.gpush("up", "--idle", "2s").succeeded();

      World.until("the agent is gone", () -> world.agents().isEmpty());

      typed.close();
      assertEquals(255, waits.waitFor(), "ssh says that its node is gone");
    }
  }
}
