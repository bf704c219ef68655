package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The whole way over the hosts of the ssh rig, as a person at a laptop goes it. */
@ResourceLock(SshRig.NAME)
@Tag("hosts")
final class SshHostsIT {
  /** Whatever of gpush is on a host; its own locks' files stay, unlocked. */
  private static final String LEFT =
      "ls -d /home/ann/gpush/* /tmp/gpush-7001/* 2>/dev/null; pgrep -a -u ann -f gpush; true";

  /** A cut is seen soon, and on a loaded machine nothing is taken for one. */
  private static final Map<String, String> WATCHFUL = Map.of("GPUSH_SSH_SILENCE", "8s");

  private static World world(SshRig rig, String hosts) throws IOException {
    return world(rig, hosts, Map.of());
  }

  private static World world(SshRig rig, String hosts, Map<String, String> waits)
      throws IOException {
    var environment = new HashMap<>(waits);
    environment.put("SSH_ASKPASS", rig.askpass().toString());
    environment.put("SSH_ASKPASS_REQUIRE", "force");
    World world = World.fresh(environment);
    Files.createDirectories(world.home());
    Files.writeString(
        world.home().resolve("config.yaml"),
        """
        backends:
          rack: {kind: ssh, hosts: [%s], ssh-config: "%s"}
        defaults: {backends: [rack, local]}
        """
            .formatted(hosts, rig.config()));
    return world;
  }

  @Test
  @Tag("gate")
  void aGangOnTwoHostsFromUpToDown() throws Exception {
    SshRig rig = SshRig.required();
    try (World world = world(rig, "\"h[1-2]\"")) {
      world.example("examples/hello/train.py");
      world.file("src/model.py", "x = 1\n");
      String backends = world.gpush("backends", "--explain").succeeded().out();
      assertTrue(backends.contains("2 hosts: 16 × H100, 16 free"), backends);
      assertTrue(backends.contains("rack: h1, h2 by openssh"), backends);

      world.gpush("up", "--nodes", "2", "--gpus", "H100:8").succeeded();

      Json session = world.json("ps", "--json").items().getFirst();
      assertEquals("rack", session.text("backend").orElse(""));
      assertEquals("ready", session.text("state").orElse(""));
      Result hosts = world.gpush("exec", "--all", "hostname").succeeded();
      assertEquals(List.of("node 0: h1", "node 1: h2"), hosts.out().lines().sorted().toList());
      Result gpus = world.gpush("exec", "echo $CUDA_VISIBLE_DEVICES $HOME $(pwd)").succeeded();
      assertTrue(
          gpus.out().startsWith("0,1,2,3,4,5,6,7 /home/ann /home/ann/gpush/"), gpus::toString);
      assertEquals(
          "x = 1\n", world.gpush("exec", "--on", "1", "cat", "src/model.py").succeeded().out());
      sshGivesBytesAndStatus(world);
      EditsOfBothSides.areEverywhere(world);
      Ranks.talk(world, Ranks.torch());

      Result held = world.gpush("up", "-s", "other", "--gpus", "1", "--dry-run");
      assertTrue(held.out().contains("0 of 2 hosts free"), held::toString);
      assertTrue(rig.in("h1", "sh", "-c", LEFT).contains("/home/ann/gpush"));

      world.gpush("down").succeeded();
      assertEquals("", rig.in("h1", "sh", "-c", LEFT));
      assertEquals("", rig.in("h2", "sh", "-c", LEFT));
    }
  }

  @Test
  @Tag("editors")
  void anEditorsTerminalIsLikeSsh() throws Exception {
    SshRig rig = SshRig.required();
    try (World world = world(rig, "\"h[1-2]\"")) {
      Everywhere.prepare(world);
      world.gpush("up", "--nodes", "2", "--gpus", "H100:8").succeeded();

      Everywhere.isOneInAnEditor(world);
    }
  }

  private static void sshGivesBytesAndStatus(World world) throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.err.println("SshHostsIT seed " + seed + " (-Dgpush.seed)");
    byte[] input = new byte[2_000_000];
    new Random(seed).nextBytes(input);
    String config = world.sshConfig().toString();

    byte[] output = world.bytes(input, 7, "ssh", "-F", config, "devbox-1", "cat; exit 7");

    assertArrayEquals(input, output);
  }

  @Test
  void aGangWithoutAnSshProgram() throws Exception {
    SshRig rig = SshRig.required();
    try (World world = world(rig, "h1, {host: inner, transport: builtin}")) {
      world.file("src/model.py", "x = 1\n");
      Files.writeString(
          world.home().resolve("config.yaml"),
          Files.readString(world.home().resolve("config.yaml"))
              .replace("kind: ssh,", "kind: ssh, transport: builtin,"));
      String backends = world.gpush("backends", "--explain").succeeded().out();
      assertTrue(
          backends.contains("rack: h1, inner by builtin: your configuration says so"), backends);

      world.gpush("up", "--nodes", "2").succeeded();

      Result hosts = world.gpush("exec", "--all", "hostname; cat src/model.py").succeeded();
      assertEquals(
          List.of("node 0: h1", "node 0: x = 1", "node 1: inner", "node 1: x = 1"),
          hosts.out().lines().sorted().toList());
      sshGivesBytesAndStatus(world);
      world.gpush("down").succeeded();
      assertEquals("", rig.in("h1", "sh", "-c", LEFT));
      assertEquals("", rig.in("inner", "sh", "-c", LEFT));
    }
  }

  @Test
  void aSecondFactorIsAskedForOnceAndNothingIsTriedWithoutAPerson() throws Exception {
    SshRig rig = SshRig.required();
    try (World world = world(rig, "mfa", WATCHFUL)) {
      Result refused = world.gpush("up", "--backend", "rack").exits(3);
      assertTrue(refused.err().contains("mfa needs you"), refused::toString);
      assertTrue(refused.err().contains("gpush login rack"), refused::toString);
      int asked = rig.count("mfa", "asked");

      world.gpush("login", "rack").succeeded();
      try {
        world.gpush("up", "--backend", "rack").succeeded();
        assertEquals(asked + 1, rig.count("mfa", "asked"));

        String count = "for i in $(seq 200); do echo line $i; sleep 0.05; done";
        Process stream =
            world.start(
                world.project(),
                List.of("ssh", "-F", world.sshConfig().toString(), "devbox", count));
        CompletableFuture<byte[]> lines = World.read(stream.getInputStream());
        rig.with("cut", "mfa");
        World.until("ps says needs you", () -> ps(world).contains("needs you"));
        assertEquals(
            Optional.of("rack"), world.json("ps", "--json").items().getFirst().text("needs_you"));
        rig.with("heal", "mfa");
        int connections = rig.count("mfa", "connections");
        for (int look = 0; look < 5; look++) {
          Result tried = world.gpush("up", "--backend", "rack", "-s", "other" + look);
          assertTrue(tried.err().contains("needs you"), tried::toString);
        }
        assertTrue(ps(world).contains("needs you"));
        assertEquals(connections, rig.count("mfa", "connections"));
        assertEquals(asked + 1, rig.count("mfa", "asked"));

        world.gpush("login", "devbox").succeeded();

        String whole =
            IntStream.rangeClosed(1, 200)
                .mapToObj(i -> "line " + i + "\n")
                .reduce("", String::concat);
        assertEquals(whole, new String(lines.join(), StandardCharsets.UTF_8));
        assertEquals(asked + 2, rig.count("mfa", "asked"));
        world.gpush("down").succeeded();
      } finally {
        rig.with("heal", "mfa");
        world.gpush("gateway", "stop");
        endPersonal(rig);
      }
    }
  }

  private static String ps(World world) {
    try {
      Result ps = world.gpush("ps");
      return ps.out();
    } catch (IOException | InterruptedException broken) {
      throw new IllegalStateException(broken);
    }
  }

  /** The connections that stay for the next gateway, which will not come. */
  private static void endPersonal(SshRig rig) throws Exception {
    for (ProcessHandle process : ProcessHandle.allProcesses().toList()) {
      Path line = Path.of("/proc", Long.toString(process.pid()), "cmdline");
      String text;
      try {
        text = Files.readString(line);
      } catch (IOException ended) {
        continue;
      }
      List<String> words = List.of(text.split("\0", -1));
      boolean isMaster =
          words.contains("-M") && words.contains(rig.config().toString()) && words.contains("mfa");
      if (isMaster) {
        Path socket = Path.of(words.get(words.indexOf("-S") + 1));
        process.destroy();
        process.onExit().get();
        Files.deleteIfExists(socket);
        Files.deleteIfExists(Path.of(socket + ".person"));
        Files.deleteIfExists(socket.getParent());
        Files.deleteIfExists(socket.getParent().getParent());
      }
    }
  }

  @Test
  void aChangedHostKeyStopsAndAnIntruderGetsNothing() throws Exception {
    SshRig rig = SshRig.required();
    try (World world = world(rig, "h2")) {
      rig.with("rekey", "h2");
      try {
        Result changed = world.gpush("up", "--backend", "rack").exits(3);
        assertTrue(
            changed.err().contains("h2 has another host key than before"), changed::toString);
      } finally {
        rig.with("trust", "h2");
      }
      world.file("secret.txt", "for ann only\n");
      world.gpush("up", "--backend", "rack").succeeded();
      String workspace = world.gpush("exec", "pwd").succeeded().out().strip();
      String agent = rig.in("h2", "sh", "-c", "echo /tmp/gpush-7001/*/agent.sock").strip();
      long pid = world.json("nodes", "--json").items().getFirst().number("agent_pid").orElse(0L);

      Result reads = asBob(world, rig, "cat " + workspace + "/secret.txt");
      Result attaches =
          asBob(
              world,
              rig,
              "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\""
                  + agent
                  + "\"); print(\"in\")'");
      Result kills = asBob(world, rig, "pkill -9 -u ann; kill -9 " + pid);

      assertFalse(reads.out().contains("for ann only"), reads::toString);
      assertFalse(attaches.out().contains("in"), attaches::toString);
      assertTrue(kills.err().contains("not permitted"), kills::toString);
      assertEquals("for ann only\n", world.gpush("exec", "cat", "secret.txt").succeeded().out());
    }
  }

  private static Result asBob(World world, SshRig rig, String command) throws Exception {
    Result said =
        world.run(new byte[0], "ssh", "-F", rig.config().toString(), "-l", "bob", "h2", command);
    assertTrue(said.exit() != 0, said::toString);
    return said;
  }
}
