package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Two ranks on two nodes that talk to each other: with real torch over gloo where there is one. */
final class Ranks {
  private Ranks() {}

  /** The Python of the torch rig. */
  static Optional<String> torch() throws Exception {
    return World.rig("torch");
  }

  /**
   * On a session of two nodes whose workspace has the examples: a run and its logs.
   *
   * @param torch empty only where no rig is required: elsewhere {@link #torch} fails without its
   *     rig
   */
  static void talk(World world, Optional<String> torch) throws Exception {
    var command = new ArrayList<>(List.of("run", "--nodes", "2", "--gpus", "1"));
    torch.ifPresent(python -> command.addAll(List.of("--python", python)));
    command.add(torch.isPresent() ? "examples/ddp/train.py" : "examples/hello/train.py");
    Result run = world.gpush(command.toArray(String[]::new)).succeeded();
    assertTrue(run.out().contains("[0] "), run::toString);
    assertTrue(run.out().contains("[1] ") || torch.isPresent(), run::toString);
    Result logs = world.gpush("logs").succeeded();
    assertEquals(
        run.out().lines().sorted().toList(), logs.out().lines().sorted().toList(), run::toString);
  }
}
