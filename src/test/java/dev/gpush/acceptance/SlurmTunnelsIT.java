package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.rig.SlurmRig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Gangs with more nodes than the login node may hold processes for: one login connection, one srun,
 * and all nodes linked.
 */
@Timeout(900)
@Tag("slurm")
final class SlurmTunnelsIT {
  /** An agent and its parent, the guard, which would start another one. */
  private static final String KILL_WITH_GUARD =
      "kill -KILL $(sed -n 's/^PPid:[^0-9]*//p' /proc/$1/status) $1";

  /** One command of srun. */
  private static final int ONE_SRUN = 2;

  private static final int SIZE = 6 << 20;
  private static final int CUTS = 3;

  private static World world(SlurmRig rig, String more) throws IOException {
    World world = World.fresh(BrokenWay.IMPATIENT);
    Files.createDirectories(world.home());
    Files.writeString(
        world.home().resolve("config.yaml"),
        """
        defaults: {backends: [hpc]}
        backends:
          hpc: {kind: slurm, login: login, ssh-config: %s%s}
        """
            .formatted(rig.sshConfig(), more));
    return world;
  }

  private static List<String> hosts(int nodes) {
    return IntStream.rangeClosed(1, nodes).mapToObj(node -> "gpu" + node).sorted().toList();
  }

  /** What all nodes say of themselves. */
  private static List<String> said(World world) throws Exception {
    return world
        .gpush("exec", "--all", "hostname")
        .succeeded()
        .out()
        .lines()
        .map(line -> line.replaceFirst("^node [0-9]+: ", ""))
        .sorted()
        .toList();
  }

  private static void isGivenBack(World world, SlurmRig rig) throws Exception {
    world.gpush("down", "--discard").succeeded();
    assertEquals("", rig.ann("squeue", "-h", "-u", "ann"));
  }

  private static byte[] noise(long seed) {
    var bytes = new byte[SIZE];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  @ResourceLock(SlurmRig.WIDE)
  void sixtyFourNodesAreOneLoginAndOneSrun() throws Exception {
    SlurmRig rig = SlurmRig.of("wide");
    try (World world = world(rig, "")) {
      world.file("words.txt", "from the laptop\n");
      long before = rig.logins();

      world.gpush("up", "--nodes", "64", "--gpus", "H100:1").succeeded();

      assertEquals(hosts(64), said(world));
      byte[] bytes = noise(64);
      byte[] back = world.bytes(bytes, 7, array(world.ssh("devbox-63", "cat; exit 7")));
      assertArrayEquals(bytes, back);
      Result words = world.gpush("exec", "--all", "cat words.txt").succeeded();
      assertEquals(64, words.out().lines().filter(line -> line.endsWith("laptop")).count());
      assertEquals(1, rig.logins() - before);
      assertEquals(ONE_SRUN, rig.sruns().size());
      isGivenBack(world, rig);
    }
  }

  private static String[] array(List<String> words) {
    return words.toArray(String[]::new);
  }

  @Test
  @ResourceLock(SlurmRig.MANY)
  void cutsOfNodeZeroLoseNoByteOfOthersAndTheNextGatewayNeedsOneSrunToo() throws Exception {
    SlurmRig rig = SlurmRig.of("many");
    try (World world = world(rig, ", sruns: 4")) {
      long before = rig.logins();
      world.gpush("up", "--nodes", "16", "--gpus", "H100:1").succeeded();
      assertEquals(hosts(16), said(world));
      assertEquals(ONE_SRUN, rig.sruns().size());

      try (var near = Echo.begin(world, "devbox-1", 1);
          var far = Echo.begin(world, "devbox-15", 2)) {
        for (int cut = 1; cut <= CUTS; cut++) {
          far.await(cut * SIZE / (CUTS + 1));
          cutNodeZero(rig);
        }
        near.endsWhole();
        far.endsWhole();
      }
      World.until("one srun is left", () -> sruns(rig) == ONE_SRUN);
      assertEquals(1, rig.logins() - before);

      // Those of the old gateway end with its hub, a minute later.
      List<Long> old = rig.sruns();
      world.killGateway();
      assertEquals(hosts(16), said(world));

      assertEquals(ONE_SRUN, rig.sruns().stream().filter(pid -> !old.contains(pid)).count());
      isGivenBack(world, rig);
    }
  }

  /** As an administrator ends processes, or a controller its step. */
  private static void cutNodeZero(SlurmRig rig) throws Exception {
    World.until("there is an srun", () -> sruns(rig) > 0);
    var kill = new ArrayList<>(List.of("kill", "-KILL"));
    rig.sruns().forEach(pid -> kill.add(pid.toString()));
    rig.root("login", array(kill));
  }

  private static int sruns(SlurmRig rig) {
    try {
      return rig.sruns().size();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stop);
    }
  }

  @Test
  @ResourceLock(SlurmRig.MANY)
  void whenNodeZeroDiesTheOthersLoseNothing() throws Exception {
    SlurmRig rig = SlurmRig.of("many");
    try (World world = world(rig, ", sruns: 2")) {
      world.gpush("up", "--nodes", "4", "--gpus", "H100:1").succeeded();
      assertEquals(ONE_SRUN, rig.sruns().size());

      try (var echo = Echo.begin(world, "devbox-3", 3)) {
        echo.await(SIZE / 2);
        Json first =
            world.json("gateway", "status", "--json").items("agents").stream()
                .filter(agent -> agent.number("node").orElse(-1L) == 0)
                .findFirst()
                .orElseThrow();
        String agent = Long.toString(first.number("pid").orElseThrow());
        assertEquals(0, rig.root("gpu1", "sh", "-c", KILL_WITH_GUARD, "sh", agent).status());
        echo.endsWhole();
      }

      World.until("node 0 is named", () -> detail(world).startsWith("node 0 is lost"));
      Result other = world.gpush("exec", "--on", "2", "hostname").succeeded();
      assertEquals("gpu3", other.out().strip());
      assertTrue(rig.sruns().size() > ONE_SRUN, "others have pipes of their own");
      isGivenBack(world, rig);
    }
  }

  private static String detail(World world) {
    try {
      return world.json("ps", "--json").items().getFirst().text("detail").orElse("");
    } catch (RuntimeException known) {
      throw known;
    } catch (Exception broken) {
      throw new IllegalStateException(broken);
    }
  }

  /** Bytes through {@code cat} on a node and back, looked at while they come. */
  private static final class Echo implements AutoCloseable {
    private final Process cat;
    private final byte[] sent;
    private final ByteArrayOutputStream received = new ByteArrayOutputStream(SIZE);
    private final InputStream output;

    private Echo(Process cat, byte[] sent) {
      this.cat = cat;
      this.sent = sent;
      this.output = cat.getInputStream();
    }

    static Echo begin(World world, String host, long seed) throws IOException {
      Process cat = world.start(world.project(), world.ssh(host, "cat; exit 7"));
      var echo = new Echo(cat, noise(seed));
      var _ = CompletableFuture.runAsync(echo::feed, task -> Thread.ofVirtual().start(task));
      return echo;
    }

    private void feed() {
      try (OutputStream input = cat.getOutputStream()) {
        input.write(sent);
      } catch (IOException ended) {
        // What came back says how far it got.
      }
    }

    /** Until so many bytes are back. */
    void await(int size) throws IOException {
      received.write(output.readNBytes(Math.max(0, size - received.size())));
    }

    void endsWhole() throws Exception {
      await(SIZE);
      assertArrayEquals(sent, received.toByteArray());
      assertEquals(-1, output.read());
      assertTrue(cat.waitFor(60, TimeUnit.SECONDS), "it has not ended");
      assertEquals(7, cat.exitValue());
    }

    @Override
    public void close() {
      cat.destroyForcibly();
    }
  }
}
