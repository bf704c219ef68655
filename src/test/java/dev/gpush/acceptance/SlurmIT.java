package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.testkit.rig.SlurmRig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The whole thread on a real Slurm, reached as a laptop reaches one. */
@Timeout(900)
@ResourceLock(SlurmRig.DEFAULT)
@Tag("slurm")
final class SlurmIT {
  /** Where the nodes have the torch rig. */
  private static final String TORCH = "/srv/torch/bin/python";

  private static World world(SlurmRig rig) throws IOException {
    World world = World.fresh();
    Files.createDirectories(world.home());
    Files.writeString(
        world.home().resolve("config.yaml"),
        """
        defaults: {backends: [hpc]}
        backends:
          hpc: {kind: slurm, login: login, ssh-config: %s}
        """
            .formatted(rig.sshConfig()));
    return world;
  }

  private static boolean isEmpty(SlurmRig rig) {
    try {
      return running(rig).isEmpty() && pending(rig).isEmpty();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Test
  @Tag("gate")
  void upSshSyncRunLogsDown() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    try (World world = world(rig)) {
      world.file("data/words.txt", "from the laptop\n");
      world.example("examples/hello/train.py");

      world.gpush("up", "--nodes", "2", "--gpus", "H100:8").succeeded();

      Result shell =
          world.run(
              new byte[0],
              world.ssh("devbox-1", "hostname; echo $CUDA_VISIBLE_DEVICES").toArray(String[]::new));
      List<String> there = shell.succeeded().out().lines().toList();
      assertEquals(List.of("0,1,2,3,4,5,6,7"), there.subList(1, there.size()));
      Result both = world.gpush("exec", "--all", "cat data/words.txt").succeeded();
      assertEquals(2, both.out().lines().filter(line -> line.endsWith("from the laptop")).count());
      EditsOfBothSides.areEverywhere(world);
      Result run = world.gpush("run", "examples/hello/train.py");
      assertEquals(
          16, run.succeeded().out().lines().filter(line -> line.contains("sum = 120")).count());
      assertTrue(run.out().contains("rank 15 of 16 on " + there.getFirst()), run::toString);
      assertEquals(
          run.out().lines().sorted().toList(),
          world.gpush("logs").succeeded().out().lines().sorted().toList());
      Result doctor = world.gpush("doctor").succeeded();
      assertTrue(doctor.out().contains("2×8 H100 on hpc"), doctor::toString);
      world.gpush("down").succeeded();

      assertTrue(isEmpty(rig));
      assertEquals("", rig.ann("find", "gpush", "-mindepth", "1"));
    }
  }

  /** In a job, Lightning finds Slurm's variables beside those of torchrun. */
  @Test
  void lightningTrainsOnTwoNodes() throws Exception {
    Optional<String> torch = Ranks.torch();
    assumeTrue(torch.isPresent(), "the torch rig is down: src/test/rigs/torch up");
    var training = new Training(torch.get());
    assumeTrue(training.hasTrainers(), "src/test/rigs/torch up trainers");
    SlurmRig rig = SlurmRig.of("default");
    try (World world = world(rig)) {
      world.gpush("up", "--nodes", "2", "--gpus", "H100:1").succeeded();

      training.runs(world, 2, TORCH, "with_lightning.py");

      world.gpush("down").succeeded();
      assertTrue(isEmpty(rig));
    }
  }

  @Test
  void theNextLaptopGoesOnWhereTheLostOneWas() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    try (World lost = world(rig);
        World next = world(rig)) {
      lost.file(
          "count.py", "import time\nfor i in range(500): print(i, flush=True); time.sleep(.02)");
      lost.file("notes.txt", "only here");
      lost.gpush("up", "--nodes", "2", "--gpus", "H100:1").succeeded();
      lost.gpush("run", "--detach", "--nodes", "1", "count.py").succeeded();
      lost.killGateway();
      next.file("count.py", "changed");

      Result doctor = next.gpush("doctor").succeeded();
      assertTrue(doctor.out().contains("is not in this ledger"), doctor::toString);
      Result asked = next.gpush("adopt").exits(1);
      assertTrue(asked.err().contains("gpush adopt devbox --take"), asked::toString);
      next.gpush("adopt", "--take").succeeded();

      List<String> numbers =
          next.gpush("logs", "-f")
              .succeeded()
              .out()
              .lines()
              .map(line -> line.substring(line.indexOf(']') + 1).strip())
              .toList();
      assertEquals(IntStream.range(0, 500).mapToObj(Integer::toString).toList(), numbers);
      Result sync = next.gpush("sync").exits(2);
      assertTrue(sync.err().contains("notes.txt"), sync::toString);
      next.gpush("sync", "--yes").succeeded();
      assertEquals("changed", next.gpush("exec", "cat count.py").succeeded().out().strip());

      // What the lost laptop had sent, and the next one replaced, is in no other place.
      Result down = next.gpush("down").succeeded();
      assertTrue(isEmpty(rig));
      assertTrue(down.err().contains("kept, because gpush did not make it: "), down::toString);
      List<String> kept =
          rig.ann("find", "gpush", "-type", "f", "-printf", "%f\\n").lines().toList();
      assertEquals(
          List.of("count.py", "count.py", "notes.txt", "notes.txt"),
          kept.stream().sorted().toList());
      rig.ann("find", "gpush", "-mindepth", "1", "-delete");
    }
  }

  @Test
  @Tag("gate")
  void aPlaceInTheQueueOutlivesTheGateway() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    String other = rig.occupy(4);
    try (World world = world(rig)) {
      Process waiting = world.startGpush("up", "--nodes", "2", "--gpus", "H100:8");
      World.until("it is queued", () -> state(world).equals("queued"));
      String job = pending(rig);

      world.killGateway();
      waiting.waitFor();
      World.until("the next gateway has found it", () -> state(world).equals("queued"));
      rig.ann("scancel", other);
      world.gpush("up", "--nodes", "2", "--gpus", "H100:8").succeeded();

      assertEquals(job, running(rig));
      world.gpush("down").succeeded();
      assertTrue(isEmpty(rig));
    } finally {
      rig.tried("ann", "scancel", other);
    }
  }

  /** Without the jobs that are completing: those hold nothing that others wait for. */
  private static String running(SlurmRig rig) throws IOException, InterruptedException {
    return rig.ann("squeue", "-h", "-t", "RUNNING", "-o", "%i");
  }

  private static String pending(SlurmRig rig) throws IOException, InterruptedException {
    return rig.ann("squeue", "-h", "-t", "PENDING", "-o", "%i");
  }

  @Test
  void aClosedTerminalLeavesItsPlaceInTheQueue() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    String other = rig.occupy(4);
    try (World world = world(rig)) {
      Process waiting = world.startGpush("up", "--nodes", "2", "--gpus", "H100:8");
      World.until("it is queued", () -> state(world).equals("queued"));
      String job = pending(rig);

      World.signal("HUP", List.of(waiting.pid()));
      waiting.waitFor();

      assertEquals(job, pending(rig));
      Result ps = world.gpush("ps").succeeded();
      assertTrue(ps.err().contains("devbox is queued for "), ps::toString);
      assertTrue(ps.err().contains(" · slurm job " + job), ps::toString);
      Process again = world.startGpush("up", "--nodes", "2", "--gpus", "H100:8");
      try (var said = again.errorReader()) {
        assertTrue(said.readLine().startsWith("devbox has waited for "));
        World.signal("KILL", List.of(again.pid()));
        again.waitFor();
      }
      assertEquals(job, pending(rig));
      rig.ann("scancel", other);
      World.until("it is made while nobody waits", () -> state(world).equals("ready"));
      Result up = world.gpush("up", "--nodes", "2", "--gpus", "H100:8").succeeded();
      assertTrue(up.err().contains("devbox is there: 2×8 H100 on hpc"), up::toString);
      assertEquals(job, running(rig));
      world.gpush("down").succeeded();
      assertTrue(isEmpty(rig));
    } finally {
      rig.tried("ann", "scancel", other);
    }
  }

  @Test
  void ctrlCDownAndStopGiveAPlaceInTheQueueUp() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    String other = rig.occupy(4);
    try (World world = world(rig)) {
      Process waiting = world.startGpush("up", "--nodes", "2", "--gpus", "H100:8");
      World.until("it is queued", () -> state(world).equals("queued"));

      World.signal("INT", List.of(waiting.pid()));

      assertEquals(130, waiting.waitFor());
      assertEquals("", pending(rig));
      Result queued = world.gpush("up", "--nodes", "2", "--gpus", "H100:8", "--detach").succeeded();
      String job = pending(rig);
      assertTrue(
          queued.err().matches("(?s).*devbox waits on hpc: [^\n]* · slurm job " + job + "\n.*"),
          queued::toString);
      assertTrue(queued.err().contains("cancel: gpush down"), queued::toString);
      world.gpush("down").succeeded();
      assertEquals("", pending(rig));
      world.gpush("up", "--nodes", "2", "--gpus", "H100:8", "--detach").succeeded();
      Result stopped = world.gpush("stop").succeeded();
      assertTrue(
          stopped.err().contains("devbox is cancelled: it no longer waits for nodes"),
          stopped::toString);
      assertEquals("", pending(rig));
      assertEquals("[]", world.gpush("ps", "--json").succeeded().out().strip());
    } finally {
      rig.tried("ann", "scancel", other);
    }
  }

  @Test
  void aGatewayThatIsStoppedKeepsItsPlaceAndTheNextOneWaitsOnByItself() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    String other = rig.occupy(4);
    try (World world = world(rig)) {
      world.gpush("up", "--nodes", "2", "--gpus", "H100:8", "--detach").succeeded();
      String job = pending(rig);

      world.gpush("gateway", "stop").succeeded();

      assertEquals(job, pending(rig));
      World.until("the next one waits", () -> state(world).equals("queued"));
      rig.ann("scancel", other);
      World.until("it is made while nobody waits", () -> state(world).equals("ready"));
      assertEquals(job, running(rig));
      world.gpush("down").succeeded();
      assertTrue(isEmpty(rig));
    } finally {
      rig.tried("ann", "scancel", other);
    }
  }

  private static String state(World world) {
    try {
      return world.json("ps", "--json").items().stream()
          .flatMap(session -> session.text("state").stream())
          .findFirst()
          .orElse("");
    } catch (RuntimeException known) {
      throw known;
    } catch (Exception broken) {
      throw new IllegalStateException(broken);
    }
  }

  @Test
  void whatCannotBeIsSaidAtOnce() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    try (World world = world(rig)) {
      Result never = world.gpush("up", "--nodes", "5", "--gpus", "H100:8").exits(1);

      assertTrue(never.err().contains("at most 4 nodes with 8 h100"), never::toString);
      assertTrue(never.err().contains("gpush up --nodes 4 --gpus H100:8"), never::toString);
      assertTrue(isEmpty(rig));
    }
  }
}
