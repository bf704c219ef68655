package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;

/** Two ranks on two nodes that talk to each other: with real torch over gloo where there is one. */
final class Ranks {
  private Ranks() {}

  /** The Python of the torch rig. */
  static Optional<String> torch() throws Exception {
    return World.rig("torch");
  }

  /**
   * On a session of two nodes, whose workspace has the example hello: a run and its logs.
   *
   * @param torch the nodes' Python with torch; empty only where no rig is required: elsewhere
   *     {@link #torch} fails without its rig
   */
  static void talk(World world, Optional<String> torch) throws Exception {
    Result run =
        torch.isPresent()
            ? new Training(torch().orElseThrow()).runs(world, 2, torch.get(), "parallel.py")
            : hello(world);
    Result logs = world.gpush("logs").succeeded();
    assertEquals(
        run.out().lines().sorted().toList(), logs.out().lines().sorted().toList(), run::toString);
  }

  private static Result hello(World world) throws Exception {
    Result run = world.gpush("run", "--nodes", "2", "examples/hello/train.py").succeeded();
    assertTrue(run.out().contains("[0] ") && run.out().contains("[1] "), run::toString);
    return run;
  }
}
