package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A killed agent is not a lost node. */
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
final class KilledAgentIT {
  /** As the kernel does where memory is short. */
  @Test
  void aKilledAgentHasASuccessorAndItsRunsAndServersGoOn() throws Exception {
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "2").succeeded();
      Path go = world.project().resolveSibling("go");
      world.file("wait.sh", "while [ ! -e '" + go + "' ]; do sleep 0.05; done; echo on\n");
      Process run = world.startGpush("run", "--nodes", "2", "sh", "wait.sh");
      CompletableFuture<byte[]> out = World.read(run.getInputStream());
      CompletableFuture<byte[]> err = World.read(run.getErrorStream());
      World.until("the run is there", () -> !runs(world).isEmpty());
      Process terminal =
          world.start(world.project(), world.ssh("-tt", "devbox", "echo there; sleep 600"));
      var first = new BufferedReader(new InputStreamReader(terminal.getInputStream()));
      assertEquals("there", first.readLine());

      for (Json node : world.json("nodes", "--json").items()) {
        World.signal("KILL", List.of(node.number("agent_pid").orElseThrow()));
      }
      assertEquals(255, terminal.waitFor());
      Files.createFile(go);
      assertEquals(0, run.waitFor(), () -> new String(err.join(), StandardCharsets.UTF_8));
      assertEquals("[0] on\n[1] on\n", sorted(new String(out.join(), StandardCharsets.UTF_8)));
      world.gpush("exec", "--all", "true").succeeded();
      Json session = world.json("ps", "--json").items().getFirst();
      assertEquals("ready", session.text("state").orElse(""), session::write);
      world.gpush("down").succeeded();
    }
  }

  private static List<Json> runs(World world) {
    try {
      return world.json("runs", "--json").items();
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static String sorted(String text) {
    return text.lines().sorted().reduce("", (all, line) -> all + line + "\n");
  }
}
