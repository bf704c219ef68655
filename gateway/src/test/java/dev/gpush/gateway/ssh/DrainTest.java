package dev.gpush.gateway.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What clients see of a gateway that stops. */
class DrainTest {
  private static final String REASON = "the gpush gateway is stopping: another build takes over";

  @Test
  void whoIsConnectedReadsWhyAndNewLoginsAreRefused() throws Exception {
    try (var rig = new Rig();
        var tasks = Tasks.named("drain", (_, failure) -> failure.printStackTrace())) {
      Process terminal =
          new ProcessBuilder(rig.ssh("-tt", "devbox", "echo ready; sleep 1000").words()).start();
      assertEquals('r', terminal.getInputStream().read());
      Process command = rig.forwarding();

      var drained =
          tasks.fork(
              "drain",
              () -> {
                rig.gateway().drain("another build takes over");
                return true;
              });
      byte[] text = new byte[200];
      var seen = new StringBuilder();
      while (seen.indexOf(REASON) < 0) {
        int count = terminal.getErrorStream().read(text);
        assertTrue(count > 0, seen::toString);
        seen.append(new String(text, 0, count, StandardCharsets.UTF_8));
      }
      Command.Result late = rig.ssh("-v", "devbox", "true").run();
      assertEquals(255, late.status());
      assertTrue(late.errors().contains(REASON + "; try again"), late.errors());
      command.getOutputStream().close();
      assertEquals(0, command.waitFor(), "it may end in its own time");
      assertTrue(drained.get());

      rig.gateway().close();

      assertEquals(255, terminal.waitFor());
    }
  }
}
