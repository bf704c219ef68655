package dev.gpush.chaos;

import dev.gpush.testkit.fixture.FolderTree;
import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.SlurmRig;
import dev.gpush.testkit.rig.SshRig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * Whatever happens between up and down, and whenever, the next gateway ends with each session
 * ready, released or a leak that it reports: never two gangs for one request, never a gang that
 * nobody knows. What is there is asked past gpush: squeue, processes, locks and folders.
 *
 * <p>{@code -Dgpush.seed=N} repeats, {@code -Dgpush.rounds=N} says how many runs of each place,
 * {@code -Dgpush.only=N} takes one run alone.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("chaos")
final class SessionsChaosIT {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  /** So that the runs of two seeds are not the same. */
  private static final long SPREAD = 1_000_003;

  private final long seed = Long.getLong("gpush.seed", System.nanoTime());

  @Test
  @Timeout(7200)
  @ResourceLock(SlurmRig.DEFAULT)
  void onSlurm() throws Exception {
    all(() -> new SlurmScene("default"), LONG ? 110 : 1);
  }

  @Test
  @Timeout(7200)
  @ResourceLock(SlurmRig.LIMITS)
  void whereOthersPushUsOut() throws Exception {
    all(() -> new SlurmScene("limits"), LONG ? 30 : 1);
  }

  @Test
  @Timeout(7200)
  @ResourceLock(SshRig.NAME)
  void onSshHosts() throws Exception {
    all(SshScene::new, LONG ? 110 : 2);
  }

  @Test
  @Timeout(7200)
  @ResourceLock(KubernetesRig.PLAIN)
  void onKubernetes() throws Exception {
    all(KubernetesScene::new, LONG ? 60 : 2);
  }

  @Test
  @Timeout(7200)
  void onThisMachine() throws Exception {
    all(LocalScene::new, LONG ? 80 : 2);
  }

  @FunctionalInterface
  private interface Opening {
    Scene scene() throws Exception;
  }

  private void all(Opening opening, int usual) throws Exception {
    int rounds = Integer.getInteger("gpush.rounds", usual);
    int only = Integer.getInteger("gpush.only", -1);
    var counts = new Counts();
    Path base = Files.createTempDirectory("gpush-chaos-");
    try (Scene scene = opening.scene()) {
      System.err.printf(
          "SessionsChaosIT on %s: seed %d, %d runs (-Dgpush.seed, -Dgpush.rounds, -Dgpush.only)%n",
          scene.name(), seed, rounds);
      for (int round = 0; round < rounds; round++) {
        if (only < 0 || only == round) {
          run(scene, round, base.resolve("r" + round), counts);
        }
      }
      System.err.printf("SessionsChaosIT on %s: %s%n", scene.name(), counts);
    } finally {
      FolderTree.delete(base);
    }
  }

  private void run(Scene scene, int round, Path folder, Counts counts) throws Exception {
    Schedule schedule = Schedule.of(new Random(seed + SPREAD * round), scene);
    String where = "on %s, seed %d, run %d: %s".formatted(scene.name(), seed, round, schedule);
    String owner = "chaos-%x-%d".formatted(seed, round);
    long begin = System.nanoTime();
    new Run(scene, schedule, folder, owner, where, counts).toItsEnd();
    counts.add("runs");
    schedule.kinds().forEach(counts::add);
    if (LONG) {
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
      System.err.printf("%s: %d ms; so far %s%n", where, millis, counts);
    }
  }
}
