package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.rig.SlurmRig;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A laptop, a rack and two clusters, and where a gang comes from. */
@ResourceLock(SlurmRig.DEFAULT)
@ResourceLock(SlurmRig.LIMITS)
@ResourceLock(SshRig.NAME)
@Tag("slurm")
final class PlacesIT {
  private static World world(SlurmRig hpc, SlurmRig uni, SshRig rack) throws IOException {
    World world = World.fresh();
    Files.createDirectories(world.home());
    Files.writeString(
        world.home().resolve("config.yaml"),
        """
        backends:
          hpc: {kind: slurm, login: login, ssh-config: %s}
          uni: {kind: slurm, login: login, ssh-config: %s}
          rack: {kind: ssh, hosts: [h1], ssh-config: %s}
        """
            .formatted(hpc.sshConfig(), uni.sshConfig(), rack.config()));
    return world;
  }

  private static List<String> jobs(SlurmRig rig, String state) {
    try {
      return rig.ann("squeue", "-h", "-u", "ann", "-t", state, "-o", "%j")
          .lines()
          .filter(name -> name.startsWith("gpush-"))
          .toList();
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }

  @Test
  void whereItIsFreeNowAndThenTheFirstOfTwoQueues() throws Exception {
    SlurmRig hpc = SlurmRig.of("default");
    SlurmRig uni = SlurmRig.of("limits");
    SshRig rack = SshRig.required();
    String atHpc = hpc.occupy(4);
    String atUni = uni.occupy(2);
    try (World world = world(hpc, uni, rack)) {
      Result dry = world.gpush("up", "--gpus", "H100:8", "--dry-run", "--json").succeeded();
      Json racks =
          Json.parse(dry.out()).items().stream()
              .filter(row -> row.text("backend").orElse("").equals("rack"))
              .findFirst()
              .orElseThrow();
      assertTrue(racks.flag("chosen"), dry::toString);
      assertTrue(
          racks.text("why").orElse("").startsWith("on rack: free now; hpc would"), dry::toString);

      Result first = world.gpush("-s", "one", "up", "--gpus", "H100:8").succeeded();
      assertTrue(first.err().contains("on rack: free now; hpc would"), first::toString);
      assertTrue(first.err().contains("one: 1×8 H100 on rack"), first::toString);

      Process second = world.startGpush("-s", "two", "up", "--gpus", "H100:8");
      World.until(
          "it waits at both",
          () -> jobs(hpc, "PENDING").size() == 1 && jobs(uni, "PENDING").size() == 1);
      uni.ann("scancel", atUni);

      assertEquals(0, second.waitFor());
      assertEquals(1, jobs(uni, "RUNNING").size());
      World.until("the other place is given up", () -> jobs(hpc, "PENDING").isEmpty());
      assertEquals(List.of(), jobs(hpc, "RUNNING"));
      world.gpush("-s", "two", "down").succeeded();
      world.gpush("-s", "one", "down").succeeded();
      assertEquals(List.of(), jobs(uni, "RUNNING"));
    } finally {
      hpc.tried("ann", "scancel", atHpc);
      uni.tried("ann", "scancel", atUni);
    }
  }

  @Test
  void aBatchScriptSaysWhatToAskFor() throws Exception {
    SlurmRig hpc = SlurmRig.of("default");
    SlurmRig uni = SlurmRig.of("limits");
    SshRig rack = SshRig.required();
    try (World world = world(hpc, uni, rack)) {
      world.file(
          "job.sbatch",
          """
          #!/bin/bash
          #SBATCH --job-name=llama
          #SBATCH -N 2 --gres=gpu:h100:4
          #SBATCH --time=20 --partition=urgent
          #SBATCH --output=%j.out
          srun python train.py
          """);

      Result up = world.gpush("up", "job.sbatch", "--backend", "uni").succeeded();

      assertTrue(
          up.err()
              .contains(
                  "job.sbatch: --nodes 2 --gpus h100:4 --for 20m; for Slurm: --partition=urgent"),
          up::toString);
      assertTrue(up.err().contains("not used: --output=%j.out"), up::toString);
      assertEquals(
          "urgent 20:00 2", uni.ann("squeue", "-h", "-u", "ann", "-t", "R", "-o", "%P %l %D"));
      world.gpush("up", "job.sbatch", "--backend", "uni").succeeded();
      world.gpush("down").succeeded();

      Result rackToo =
          world.gpush("up", "job.sbatch", "--nodes", "1", "--backend", "rack", "--dry-run");
      assertTrue(
          rackToo.err().contains("rack does not use --partition=urgent, which only Slurm knows"),
          rackToo::toString);
      world.file("bad.sbatch", "#!/bin/sh\n#SBATCH --nodes=many\n");
      Result bad = world.gpush("up", "bad.sbatch").exits(2);
      assertTrue(bad.err().contains("bad.sbatch:2: --nodes cannot be 'many'"), bad::toString);
    }
  }
}
