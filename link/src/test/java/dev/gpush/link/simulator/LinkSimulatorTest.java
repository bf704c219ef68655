package dev.gpush.link.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.link.simulator.agent.AgentFault;
import dev.gpush.link.simulator.agent.AgentSide;
import dev.gpush.link.simulator.agent.ModelAgent;
import dev.gpush.link.simulator.agent.PythonAgent;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Thousands of schedules of cuts, stalls, restarts, full windows and late bytes between the
 * gateway's machine and the agent, each from one seed and in virtual time, with every byte checked.
 *
 * <p>{@code -Dgpush.seed=N -Dgpush.rounds=1} repeats the one schedule that a failure names; {@code
 * -Dgpush.rounds} says how many there are, {@code -P long} takes 100,000.
 */
@Timeout(1_200)
final class LinkSimulatorTest {
  private static final boolean LONG = Boolean.getBoolean("gpush.long");
  private static final long SEED = Long.getLong("gpush.seed", System.nanoTime());
  private static final int SCHEDULES = Integer.getInteger("gpush.rounds", LONG ? 100_000 : 2_000);

  /** Each takes a hundred times as long with Python. */
  private static final int IN_PYTHON = Math.max(1, SCHEDULES / 200);

  /** Within so many schedules a fault must be found. */
  private static final int UNTIL_FOUND = 10_000;

  /** The seed itself first, so that it can be repeated alone. */
  private static Iterable<Long> seeds(int count) {
    var more = new SplittableRandom(SEED);
    return () ->
        LongStream.concat(LongStream.of(SEED), LongStream.generate(more::nextLong))
            .limit(count)
            .iterator();
  }

  private static Simulation.Outcome run(long seed, AgentSide agent, Mutation mutation) {
    try {
      return new Simulation(seed, agent, mutation).run();
    } catch (AssertionError | RuntimeException wrong) {
      throw new AssertionError("-Dgpush.seed=" + seed + " -Dgpush.rounds=1: " + wrong, wrong);
    }
  }

  /** The first seed whose schedule fails. */
  private static long find(Object fault, AgentSide agent, Mutation mutation) {
    int schedules = 0;
    for (long seed : seeds(UNTIL_FOUND)) {
      schedules++;
      try {
        run(seed, agent, mutation);
      } catch (AssertionError found) {
        System.err.printf(
            "LinkSimulatorTest seed %d: %s found by schedule %d%n", SEED, fault, schedules);
        return seed;
      }
    }
    throw new AssertionError(
        "-Dgpush.seed=" + SEED + ": not found in " + UNTIL_FOUND + " schedules: " + fault);
  }

  private static double seconds() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
  }

  @Test
  void everythingArrivesOnceAndInOrderWhateverHappens() {
    double begun = seconds();
    var agent = new ModelAgent(AgentFault.NONE);
    long steps = 0;
    long pipes = 0;
    long frames = 0;
    long bytes = 0;
    long restarts = 0;
    for (long seed : seeds(SCHEDULES)) {
      Simulation.Outcome outcome = run(seed, agent, Mutation.NONE);
      steps += outcome.steps();
      pipes += outcome.pipes();
      frames += outcome.frames();
      bytes += outcome.bytes();
      restarts += outcome.restarts();
    }
    System.err.printf(
        "LinkSimulatorTest seed %d: %d schedules (-Dgpush.seed, -Dgpush.rounds), %d steps,"
            + " %d pipes, %d restarts, %d frames and %d MiB up, %.1f s of processor%n",
        SEED, SCHEDULES, steps, pipes, restarts, frames, bytes >> 20, seconds() - begun);
  }

  /** The model of the agent is the agent: byte for byte the same, both directions. */
  @Test
  void theModelSendsWhatTheAgentSends() throws IOException {
    try (var python = new PythonAgent(AgentFault.NONE);
        var model = new ModelAgent(AgentFault.NONE)) {
      for (long seed : seeds(IN_PYTHON)) {
        Simulation.Outcome wanted = run(seed, python, Mutation.NONE);

        assertEquals(wanted, run(seed, model, Mutation.NONE), () -> "-Dgpush.seed=" + seed);
      }
    }
    System.err.printf("LinkSimulatorTest seed %d: %d schedules with Python%n", SEED, IN_PYTHON);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void findsAGatewayWith(Mutation mutation) {
    find(mutation, new ModelAgent(AgentFault.NONE), mutation);
  }

  /** In the model, and with the same schedule in the agent's own modules. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void findsAnAgentWith(AgentFault fault) throws IOException {
    long seed = find(fault, new ModelAgent(fault), Mutation.NONE);

    try (var faulty = new PythonAgent(fault);
        var real = new PythonAgent(AgentFault.NONE)) {
      assertThrows(AssertionError.class, () -> run(seed, faulty, Mutation.NONE));
      run(seed, real, Mutation.NONE);
    }
  }
}
