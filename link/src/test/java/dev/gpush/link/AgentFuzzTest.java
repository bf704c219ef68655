package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The agent's own fuzzing, {@code link/agent/tests/test_fuzz.py}, with the seed and rounds of this
 * build.
 */
@Timeout(600)
class AgentFuzzTest {
  private static final long SEED = Long.getLong("gpush.seed", new Random().nextLong() >>> 1);
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", 1);

  @Test
  void nothingHarmsTheAgent() throws IOException, InterruptedException {
    var builder =
        new ProcessBuilder("python3", "-B", "-m", "unittest", "test_fuzz")
            .directory(Path.of("agent", "tests").toFile())
            .redirectErrorStream(true);
    builder.environment().put("SEED", Long.toString(SEED));
    builder.environment().put("ROUNDS", Integer.toString(ROUNDS));
    System.out.println("seed of the agent's fuzz: -Dgpush.seed=" + SEED);

    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertEquals(0, process.waitFor(), said);
  }
}
