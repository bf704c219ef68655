package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Idle nodes with a client that stays connected, in real seconds. */
@Tag("local")
final class IdleSessionIT {
  /** Its kernel waits, with a browser that has it open. */
  @Test
  void aNotebookClaimsGpusUntilItIsStoppedAndDoesNotKeepTheNode() throws Exception {
    Optional<String> jupyter = Ranks.torch();
    Assumptions.assumeTrue(jupyter.isPresent(), "no torch rig: it has the Jupyter server");
    String[] open = {"jupyter", "server", "--gpus", "1", "--json"};
    try (World world = World.fresh()) {
      SilentGpus.answering(world, "up", "--nodes", "1", "--gpus", "2").succeeded();
      try (var notebook = Notebook.open(world, jupyter.get(), open)) {
        notebook.prints("import os; print(os.environ['CUDA_VISIBLE_DEVICES'])", "0\n");
      }
      Json run = world.json("runs", "--json").items().getFirst();
      assertEquals("notebook", run.text("kind").orElseThrow());
      assertTrue(world.gpush("runs").succeeded().out().contains("notebook"), "the table");
      Result busy = world.gpush("run", "--gpus", "2", "true");
      assertTrue(busy.err().contains("run 1"), busy::toString);

      Result stopped = world.gpush("jupyter", "--stop");

      assertTrue(stopped.succeeded().err().contains("0:0 is free"), stopped::toString);
      world.gpush("run", "--gpus", "2", "true").succeeded();
      try (var notebook = Notebook.open(world, jupyter.get(), open)) {
        notebook.prints("print(6 * 7)", "42\n");
        world.gpush("up", "--idle", "2s").succeeded();
        World.until("the agent is gone", () -> world.agents().isEmpty());
      }
    }
  }

  /** Nothing passes while it computes; and then its kernel only waits. */
  @Test
  void aNotebookKeepsTheNodeWhileItComputes() throws Exception {
    Optional<String> torch = Ranks.torch();
    Assumptions.assumeTrue(torch.isPresent(), "no torch rig: it has the Jupyter server");
    try (World world = World.fresh()) {
      world.gpush("up", "--nodes", "1").succeeded();
      try (var notebook = Notebook.open(world, torch.get())) {
        world.gpush("up", "--idle", "15s").succeeded();
        String cell =
            notebook.send(
                """
                import time
                end = time.monotonic() + 45
                while time.monotonic() < end:
                    pass
                print("done")
                """);
        assertEquals("done\n", notebook.output(cell));
        assertEquals(1, world.agents().size(), "it was kept for three idle times");
        World.until("the agent is gone", () -> world.agents().isEmpty());
      }
    }
  }
}
