package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.rig.SlurmRig;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Several clusters behind one login: each is a backend, and all share one ssh connection. */
@ResourceLock(SlurmRig.TWO)
@Tag("slurm")
final class SlurmClustersIT {
  private static World world(SlurmRig rig) throws IOException {
    World world = World.fresh();
    Files.createDirectories(world.home());
    Files.writeString(
        world.home().resolve("config.yaml"),
        """
        defaults: {backends: [first, second]}
        backends:
          first: {kind: slurm, login: login, ssh-config: %1$s}
          second: {kind: slurm, login: login, ssh-config: %1$s, cluster: second}
          nowhere: {kind: slurm, login: login, ssh-config: %1$s, cluster: nowhere}
          boxed: {kind: slurm, login: login, ssh-config: %1$s, image: registry.rig/lab/train:1, mounts: /srv:/srv:ro}
          lost: {kind: slurm, login: login, ssh-config: %1$s, image: registry.rig/lab/none}
        """
            .formatted(rig.sshConfig()));
    return world;
  }

  /** Without a login of its own. */
  private static String jobs(SlurmRig rig, String cluster) throws Exception {
    return rig.root("login", "squeue", "-h", "-M", cluster, "-o", "%N", "-u", "ann").output();
  }

  @Test
  void eachClusterIsABackendAndTheFreeOneIsTaken() throws Exception {
    SlurmRig rig = SlurmRig.of("two");
    try (World world = world(rig)) {
      world.example("examples/hello/train.py");
      long before = rig.logins();
      Result ways = world.gpush("backends", "--explain").succeeded();
      assertTrue(ways.out().contains("first: login by openssh: "), ways::toString);
      assertTrue(ways.out().contains("; all of it for the cluster second\n"), ways::toString);
      world.gpush("up", "--nodes", "2", "--gpus", "H100:8").succeeded();
      assertEquals("gpu[1-2]", jobs(rig, "rig"));

      Result chosen = world.gpush("up", "-s", "other", "--nodes", "2", "--gpus", "H100:8");

      assertTrue(chosen.succeeded().err().contains("on second"), chosen::toString);
      assertEquals("gpu[3-4]", jobs(rig, "second"));
      Result run = world.gpush("run", "-s", "other", "examples/hello/train.py");
      assertTrue(run.succeeded().out().contains("rank 15 of 16 on gpu4"), run::toString);
      Result shell =
          world.run(new byte[0], world.ssh("other-1", "hostname").toArray(String[]::new));
      assertEquals("gpu4\n", shell.succeeded().out());
      assertEquals(1, rig.logins() - before, "one connection for both");
      Result longer = world.gpush("extend", "-s", "other", "--for", "10d");
      assertTrue(
          longer.toString().contains("SLURM_CLUSTERS=second scontrol update JobId="),
          longer::toString);
      world.gpush("down", "-s", "other").succeeded();
      assertEquals("", jobs(rig, "second"));
      assertEquals("gpu[1-2]", jobs(rig, "rig"));
      world.gpush("down").succeeded();
      assertEquals("", jobs(rig, "rig"));
    }
  }

  /** The rig's plugin has pyxis' options; pyxis itself cannot be had here. */
  @Test
  void everythingRunsInAnImage() throws Exception {
    SlurmRig rig = SlurmRig.of("two");
    try (World world = world(rig)) {
      world.example("examples/hello/train.py");
      world.file(
          "which.sh", "id -un; head -n1 /etc/os-release; touch /opt/mine && ls -d /srv/torch\n");
      world.gpush("up", "--backend", "boxed", "--nodes", "2", "--gpus", "H100:2").succeeded();

      String inside = "ann\nNAME=\"an image of the rig\"\n/srv/torch\n";
      Result shell =
          world.run(
              new byte[0],
              world.ssh("devbox-1", "head -n1 /etc/os-release").toArray(String[]::new));
      assertEquals("NAME=\"an image of the rig\"\n", shell.succeeded().out());
      assertEquals(inside, world.gpush("exec", "sh", "which.sh").succeeded().out());
      Result run = world.gpush("run", "examples/hello/train.py").succeeded();
      assertTrue(run.out().contains("rank 3 of 4 on gpu2"), run::toString);
      world.gpush("down").succeeded();
      assertEquals("", rig.ann("find", "gpush", "-mindepth", "1"));

      Result lost = world.gpush("up", "--backend", "lost", "--gpus", "H100:1");
      assertEquals(1, lost.exit());
      assertTrue(lost.err().contains("failed to import docker image"), lost::toString);
      assertEquals("", jobs(rig, "rig"));
    }
  }

  @Test
  void aClusterThatNobodyKnowsAndAnAccountingDaemonThatIsDown() throws Exception {
    SlurmRig rig = SlurmRig.of("two");
    try (World world = world(rig)) {
      Result unknown = world.gpush("up", "--backend", "nowhere", "--gpus", "H100:1");
      assertEquals(3, unknown.exit(), unknown::toString);
      assertTrue(unknown.err().contains("there is no such cluster"), unknown::toString);
      world.gpush("up", "--backend", "second", "--gpus", "H100:1").succeeded();
      rig.accounting("off");
      try {
        // The agents are there, whoever knows the way to the cluster.
        assertEquals("gpu3\n", world.gpush("exec", "hostname").succeeded().out());
        Result up = world.gpush("up", "-s", "next", "--backend", "second", "--gpus", "H100:1");
        assertTrue(up.err().contains("accounting daemon"), up::toString);
        assertEquals(1, world.json("ps", "--json").items().size());
      } finally {
        rig.accounting("on");
      }
      world.gpush("down").succeeded();
      assertEquals("", jobs(rig, "second"));
    }
  }
}
