package dev.gpush.link.simulator;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
final class LinkSimulatorTest {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");
  private static final long SEED = Long.getLong("gpush.seed", System.nanoTime());
  private static final int SCHEDULES =
      Integer.getInteger("gpush.rounds", LONG ? 100_000 : 10_000);

  @Test
  void nothingIsLostWhateverHappens() {
    var agent = new ModelAgent();
    long begun = cpu();
    var seeds = new SplittableRandom(SEED);
    long frames = 0;
    long steps = 0;
    long bytes = 0;
    long pipes = 0;
    long restarts = 0;
    int failed = 0;
    for (int i = 0; i < SCHEDULES; i++) {
      long seed = i == 0 ? SEED : seeds.nextLong();
      try {
        Simulation.Outcome outcome = new Simulation(seed, agent, Mutation.NONE).run();
        steps += outcome.steps();
        if (outcome.steps() > 3000) System.err.println("steps " + outcome.steps() + " seed " + seed);
        frames += outcome.frames();
        bytes += outcome.bytes();
        pipes += outcome.pipes();
        restarts += outcome.restarts();
      } catch (AssertionError | RuntimeException wrong) {
        System.err.println("FAILED seed " + seed + " at " + i + ": " + wrong);
        if (failed == 0) wrong.printStackTrace();
        if (++failed > 8) {
          break;
        }
      }
    }
    System.err.printf(
        "LinkSimulatorTest: seed %d, %d schedules, %d steps, %d pipes, %d frames up, %d MiB up, %d restarts, %.1f s of processor, failed %d%n",
        SEED, SCHEDULES, steps, pipes, frames, bytes >> 20, restarts, (cpu() - begun) / 1e9, failed);
    assertTrue(failed == 0);
  }

  private static long cpu() {
    return java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }
}
