package dev.gpush.backends.slurm.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.fake.ChildPipe;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class StepPipeTest {
  private static final String NO_STEP =
      "srun: error: Unable to create step for job 7: Step limit reached for this job\n";

  private final List<String> told = new ArrayList<>();

  /** Output and errors of a command. */
  private String read(String script) throws Exception {
    try (Pipe pipe =
        new StepPipe(
            ChildPipe.start(List.of("sh", "-c", script)),
            () -> told.add("created"),
            () -> told.add("refused"))) {
      return new String(pipe.output().readAllBytes(), StandardCharsets.UTF_8)
          + new String(pipe.errors().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void tellsOnceThatThereIsAStep() throws Exception {
    String some = "x".repeat(100_000);

    assertEquals(some, read("printf %100000s | tr ' ' x"));

    assertEquals(List.of("created"), told);
  }

  @Test
  void tellsThatThereIsNone() throws Exception {
    assertEquals(NO_STEP, read("printf '%s' '" + NO_STEP + "' >&2"));

    assertEquals(List.of("refused"), told);
  }

  @Test
  void whatElseIsSaidProvesNothing() throws Exception {
    String ended = "srun: error: gpu[1-2]: tasks 0-1: Exited with exit code 94\n";

    assertEquals(ended, read("printf '%s' '" + ended + "' >&2"));

    assertEquals(List.of(), told);
  }
}
