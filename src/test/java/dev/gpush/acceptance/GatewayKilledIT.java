package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code kill -9} of the gateway at seeded moments of up, sync, run and down: afterwards {@code ps}
 * and {@code doctor} tell the truth, one {@code up} gives one gang, and nothing is forgotten.
 */
@Timeout(3600)
@Tag("chaos")
final class GatewayKilledIT {
  /** {@code -Dgpush.kills=N} for the long form. */
  private static final int KILLS =
      Integer.getInteger("gpush.kills", Boolean.getBoolean("gpush.long") ? 50 : 4);

  private static final List<List<String>> COMMANDS =
      List.of(
          List.of("up", "--nodes", "2"),
          List.of("sync"),
          List.of("run", "--nodes", "2", "count.py"),
          List.of("down"));

  private static final Set<String> TRUTH =
      Set.of("ready", "asked", "granted", "linked", "degraded", "releasing");

  @Test
  void neverTwoGangsAndNeverAForgottenOne() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println(
        "GatewayKilledIT seed " + seed + ", " + KILLS + " kills (-Dgpush.seed, -Dgpush.kills)");
    var random = new Random(seed);
    try (World world = World.fresh()) {
      world.file("count.py", "for i in range(300): print('line', i)\n");
      for (int kill = 0; kill < KILLS; kill++) {
        String where = "seed " + seed + ", kill " + kill;
        List<String> command = COMMANDS.get(kill % COMMANDS.size());
        if (!command.getFirst().equals("up")) {
          world.gpush("up", "--nodes", "2").succeeded();
        }
        if (command.getFirst().equals("sync")) {
          for (int file = 0; file < 50; file++) {
            world.file("src/" + file + ".txt", where + "\n" + "x".repeat(random.nextInt(100_000)));
          }
        }
        if (kill > 0 && command.getFirst().equals("up") && random.nextBoolean()) {
          world.gpush("down").succeeded();
        }
        long pid = gateway(world);
        System.err.println("kill " + kill + " during " + command.getFirst());

        Process interrupted = world.startGpush(command.toArray(String[]::new));
        CompletableFuture<byte[]> out = World.read(interrupted.getInputStream());
        CompletableFuture<byte[]> err = World.read(interrupted.getErrorStream());
        var killed = ProcessHandle.of(pid).orElseThrow();
        interrupted
            .onExit()
            .completeOnTimeout(interrupted, random.nextInt(1200), TimeUnit.MILLISECONDS)
            .get();
        killed.destroyForcibly();
        killed.onExit().get();
        interrupted.waitFor();
        out.join();
        err.join();

        for (Json session : world.json("ps", "--json").items()) {
          assertTrue(
              TRUTH.contains(session.text("state").orElse("")), where + ": " + session.write());
        }
        world.gpush("up", "--nodes", "2").succeeded();
        List<Json> sessions = world.json("ps", "--json").items();
        assertEquals(1, sessions.size(), where);
        assertEquals("ready", sessions.getFirst().text("state").orElse(""), where);
        assertEquals(2, world.agents().size(), where);
        doctorAgrees(world, where);
        assertEquals(
            "0\n1\n",
            sorted(world.gpush("exec", "--all", "sh", "-c", "echo $GPUSH_NODE").succeeded().out()));
      }
    }
  }

  /** What was left half is either whole again or proved gone. */
  private static void doctorAgrees(World world, String where) throws Exception {
    for (Json finding : world.json("doctor", "--json").items()) {
      assertTrue(!finding.text("status").orElse("").equals("bad"), where + ": " + finding.write());
    }
  }

  private static long gateway(World world) throws Exception {
    world.gpush("ps").succeeded();
    return world.gatewayPid();
  }

  private static String sorted(String text) {
    return text.lines()
        .map(line -> line.replaceFirst("^.*: ", ""))
        .sorted()
        .reduce("", (all, line) -> all + line + "\n");
  }
}
