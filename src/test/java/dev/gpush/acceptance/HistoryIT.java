package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.acceptance.KubernetesIT.Cluster;
import dev.gpush.testkit.rig.KubernetesRig;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The git repository of a pod, whose disk ends with it. */
@ResourceLock(KubernetesRig.PLAIN)
@Tag("kubernetes")
final class HistoryIT {
  static final String REPOSITORY =
      """
      set -e
      git init -q -b main .
      git config user.name Ann
      git config user.email ann@example.org
      git add .
      git commit -q -m first
      """;

  @Test
  void aCommitMadeInAPodIsHomeWhenThePodIsGone() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.file("gpush.yaml", "nodes: 1\n");
      world.file("train.py", "print(1)\n");
      world.run(new byte[0], "sh", "-c", REPOSITORY).succeeded();
      world.gpush("up").succeeded();
      World.until(
          "the pod has the history",
          () -> history(world).endsWith(", as here") && history(world).contains("on main"));
      assertEquals("", world.gpush("exec", "git status --porcelain").succeeded().out());
      String log = world.gpush("exec", "git log --format='%an %s'").succeeded().out();
      assertEquals("Ann first\n", log);

      world.gpush("exec", "echo 'print(2)' >train.py; git commit -q -a -m second").succeeded();
      World.until("the edit is home", () -> world.text("train.py").equals("print(2)\n"));
      world.gpush("down", "--discard").succeeded();

      String came =
          world
              .run(new byte[0], "git", "log", "--format=%an %s", "refs/gpush/devbox/main")
              .succeeded()
              .out();
      assertEquals("Ann second\nAnn first\n", came);
      // The file is here, the commit is under refs/gpush, and the user's own branch is as it was.
      assertEquals(
          " M train.py\n", world.run(new byte[0], "git", "status", "--short").succeeded().out());
      cluster.isEmpty();
    }
  }

  static String history(World world) {
    try {
      return world.json("sync", "status", "--json").text("history").orElse("");
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }
}
