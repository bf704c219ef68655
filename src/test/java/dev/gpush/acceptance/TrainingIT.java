package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Real trainers on local nodes: a run gets the same numbers, to the last digit, as a plain torchrun
 * of as many ranks.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("training")
final class TrainingIT {
  private static Training training() throws Exception {
    Optional<String> torch = Ranks.torch();
    assumeTrue(torch.isPresent(), "the torch rig is down: src/test/rigs/torch up");
    return new Training(torch.get());
  }

  /** A session of local nodes. */
  private static World world(Training training, int nodes) throws Exception {
    World world = World.fresh();
    var env = new StringBuilder("env:\n");
    for (Map.Entry<String, String> each : training.environment().entrySet()) {
      env.append("  %s: \"%s\"\n".formatted(each.getKey(), each.getValue()));
    }
    world.file("gpush.yaml", env.toString());
    world.gpush("up", "--nodes", "" + nodes).succeeded();
    return world;
  }

  @Test
  void plainRanksAndAccelerateOnTwoNodes() throws Exception {
    Training training = training();
    try (World world = world(training, 2)) {
      training.runs(world, 2, training.python(), "parallel.py");
      assumeTrue(training.hasTrainers(), "src/test/rigs/torch up trainers");
      training.runs(world, 2, training.python(), "with_accelerate.py", "accelerate", "launch");
    }
  }

  @Test
  void deepspeedOnTwoNodes() throws Exception {
    Training training = training();
    assumeTrue(training.hasDeepSpeed(), "DeepSpeed did not install in the torch rig");
    try (World world = world(training, 2)) {
      training.runs(world, 2, training.python(), "with_deepspeed.py", "deepspeed");
    }
  }

  @Test
  void plainRanksOnFourNodes() throws Exception {
    Training training = training();
    try (World world = world(training, 4)) {
      training.runs(world, 4, training.python(), "parallel.py");
    }
  }
}
