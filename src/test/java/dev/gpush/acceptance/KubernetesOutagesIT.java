package dev.gpush.acceptance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.testkit.rig.KubernetesRig;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * A gateway, a network or an API server that goes away, and what goes on. In the profile of the
 * gangs, with pods placed as in the other one, so that both clusters are used side by side.
 */
@Timeout(900)
@ResourceLock(KubernetesRig.GANGS)
@Tag("kubernetes")
final class KubernetesOutagesIT {
  private static KubernetesIT.Cluster open(String more) throws Exception {
    return open(more, Map.of());
  }

  private static KubernetesIT.Cluster open(String more, Map<String, String> waits)
      throws Exception {
    String plain = more.isEmpty() ? "gang: plain" : "gang: plain\n    " + more;
    return KubernetesIT.Cluster.open(KubernetesRig.of("gangs"), plain, waits);
  }

  @Test
  void aCutNetworkLosesNothing() throws Exception {
    try (KubernetesIT.Cluster cluster = open("", BrokenWay.IMPATIENT)) {
      World world = cluster.world();
      KubernetesRig rig = cluster.rig();
      world.gpush("up", "--nodes", "1", "--gpus", "H100:1").succeeded();
      try {
        BrokenWay.losesNothing(
            world, Ranks.torch().map(_ -> KubernetesIT.TORCH), rig::cut, rig::heal);
      } finally {
        rig.heal();
      }
      world.gpush("down", "--discard").succeeded();
      cluster.isEmpty();
    }
  }

  /** Agents judge the lease by themselves; what they did is seen when the server is back. */
  @Test
  void anApiServerThatStaysAwayKeepsNobody() throws Exception {
    try (KubernetesIT.Cluster cluster = open("remember: 2s")) {
      World world = cluster.world();
      KubernetesRig rig = cluster.rig();
      world.gpush("up", "--nodes", "2", "--gpus", "H100:1").succeeded();
      Set<String> nodes = cluster.nodes();
      world.gpush("up", "--idle", "4s").succeeded();
      rig.off("apiserver");
      try {
        world.killGateway();

        World.until(
            "no container of ours runs on a node",
            () -> nodes.stream().allMatch(node -> containers(rig, node).isEmpty()));
      } finally {
        rig.on("apiserver");
      }
      World.until("job and all are gone", () -> cluster.seen().isEmpty());
    }
  }

  private static List<String> containers(KubernetesRig rig, String node) {
    try {
      String tasks = rig.root(node, "pgrep", "-f", "/run/gpush-agent/loader.py").output();
      return tasks.lines().toList();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return List.of("interrupted");
    }
  }

  @Test
  void bytesArriveWhileTheApiServerIsRestarted() throws Exception {
    try (KubernetesIT.Cluster cluster = open("")) {
      World world = cluster.world();
      KubernetesRig rig = cluster.rig();
      world.gpush("up", "--nodes", "1", "--gpus", "H100:1").succeeded();
      Path sent = world.home().resolve("sent");
      var noise = new byte[200 << 20];
      ThreadLocalRandom.current().nextBytes(noise);
      Files.write(sent, noise);
      String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(noise));

      Process up =
          new ProcessBuilder(world.ssh("devbox", "cat >/tmp/there && sha256sum </tmp/there"))
              .redirectInput(sent.toFile())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      World.until("some of it is there", () -> begun(cluster));
      restart(rig);
      assertEquals(hash + "  -", new String(up.getInputStream().readAllBytes(), UTF_8).strip());
      assertEquals(0, up.waitFor());

      Process down =
          new ProcessBuilder(world.ssh("devbox", "cat /tmp/there"))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      var digest = MessageDigest.getInstance("SHA-256");
      var piece = new byte[1 << 20];
      boolean isRestarted = false;
      InputStream from = down.getInputStream();
      for (int count = from.read(piece); count >= 0; count = from.read(piece)) {
        digest.update(piece, 0, count);
        if (!isRestarted) {
          isRestarted = true;
          restart(rig);
        }
      }
      assertEquals(hash, HexFormat.of().formatHex(digest.digest()));
      assertEquals(0, down.waitFor());
      world.gpush("down", "--discard").succeeded();
      cluster.isEmpty();
    }
  }

  private static boolean begun(KubernetesIT.Cluster cluster) {
    String size =
        cluster.tried("exec", cluster.pod(0), "--", "stat", "-c", "%s", "/tmp/there").output();
    return size.matches("[0-9]{7,}");
  }

  private static void restart(KubernetesRig rig) throws Exception {
    rig.off("apiserver");
    rig.on("apiserver");
  }
}
