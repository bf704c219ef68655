package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The gateway's own process is stopped, as by a debugger, a full memory or Ctrl-Z, and later goes
 * on. The profile {@code long} stops it for minutes.
 */
@Timeout(900)
@Tag("link")
final class StoppedGatewayIT {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** On top of the ten seconds for which a command waits for the greeting. */
  private static final Duration MORE = LONG ? Duration.ofMinutes(4) : Duration.ZERO;

  private static final int MEGABYTES = LONG ? 200 : 16;

  /** Shorter than it is stopped for: each link finds that nobody has answered for too long. */
  private static final Map<String, String> CONTACT = Map.of("GPUSH_LINK_CONTACT", "2s");

  @Test
  void whatIsOpenGoesOnAndCommandsSayWhy() throws Exception {
    try (World world = World.fresh(CONTACT)) {
      world.gpush("up").succeeded();
      Traffic traffic = Traffic.begin(world, MEGABYTES);
      long gateway = world.gatewayPid();
      Process connecting;
      CompletableFuture<byte[]> said;
      Result refused;

      World.signal("STOP", List.of(gateway));
      try {
        connecting = world.start(world.project(), world.ssh("devbox", "echo $GPUSH_NODE; exit 4"));
        said = World.read(connecting.getErrorStream());
        refused = world.gpush("ps");
        LockSupport.parkNanos(MORE.toNanos());
        assertEquals(List.of(gateway), gateways(world));
      } finally {
        World.signal("CONT", List.of(gateway));
      }

      refused.exits(3);
      assertEquals("", refused.out());
      assertTrue(refused.err().startsWith("gpush: the gateway does not answer\n"), refused::err);
      assertTrue(refused.err().contains("hangs or is suspended (host="), refused::err);
      assertTrue(refused.err().contains("try: kill -CONT " + gateway + ";"), refused::err);
      assertEquals(gateway, world.gatewayPid());
      assertEquals(List.of(gateway), gateways(world));
      assertEquals(4, connecting.waitFor(), () -> "an ssh that came meanwhile: " + text(said));
      World.until("the session is ready", () -> isReady(world));
      traffic.endsWhole();
      Json run = world.json("runs", "--json").items().getFirst();
      assertEquals("done", run.text("state").orElse(""), run::write);
    }
  }

  private static String text(CompletableFuture<byte[]> bytes) {
    return new String(bytes.join(), StandardCharsets.UTF_8);
  }

  private static boolean isReady(World world) {
    try {
      Json session = world.json("ps", "--json").items().getFirst();
      return session.text("state").orElse("").equals("ready");
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static List<Long> gateways(World world) throws Exception {
    return world.processes().stream()
        .filter(process -> process.contains(" dev.gpush.app.Main"))
        .map(process -> Long.parseLong(process.substring(0, process.indexOf(' '))))
        .toList();
  }
}
