package dev.gpush.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The agent's own tests, {@code agent/tests}, each file in a Python of its own, with the seed and
 * rounds of this build.
 */
@Execution(ExecutionMode.CONCURRENT)
class AgentSuiteTest {
  private static final long SEED = Long.getLong("gpush.seed", new Random().nextLong() >>> 1);
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", 1);
  private static final Path TESTS = Path.of("tests");
  private static final long LIMIT_SECONDS = 540;

  private static final String HOME = Path.of("target").toAbsolutePath().toString();

  /** The largest takes longest, so that it begins first. */
  private static long size(String module) {
    return TESTS.resolve(module + ".py").toFile().length();
  }

  @TestFactory
  List<DynamicTest> allOfTheAgentsTestsPass() throws IOException {
    System.out.println("seed of the agent's tests: -Dgpush.seed=" + SEED);
    List<String> modules;
    try (Stream<Path> files = Files.list(TESTS)) {
      modules =
          files
              .map(file -> String.valueOf(file.getFileName()))
              .filter(name -> name.startsWith("test_") && name.endsWith(".py"))
              .map(name -> name.substring(0, name.length() - ".py".length()))
              .sorted(Comparator.comparing(AgentSuiteTest::size).reversed())
              .toList();
    }
    assertFalse(modules.isEmpty());
    return modules.stream()
        .map(module -> DynamicTest.dynamicTest(module, () -> new Running(module).assertPassed()))
        .toList();
  }

  private static final class Running {
    private final String module;
    private final Path log;
    private final Process process;

    Running(String module) {
      this.module = module;
      try {
        this.log = Files.createTempFile("gpush-" + module + "-", ".log");
        var builder =
            new ProcessBuilder("python3", "-B", "-m", "unittest", module)
                .directory(TESTS.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("PYTHONPATH", "..");
        // The rigs stay where they are.
        builder.environment().putIfAbsent("XDG_CACHE_HOME", System.getenv("HOME") + "/.cache");
        // No startup file of whoever runs the tests takes part.
        builder.environment().put("HOME", HOME);
        builder.environment().put("SEED", Long.toString(SEED));
        builder.environment().put("GPUSH_SEED", Long.toString(SEED));
        builder.environment().put("ROUNDS", Integer.toString(ROUNDS));
        this.process = builder.start();
        process.getOutputStream().close();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }

    void assertPassed() throws IOException, InterruptedException {
      boolean isDone = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      process.destroyForcibly();
      String said = Files.readString(log, StandardCharsets.UTF_8);
      Files.delete(log);
      assertEquals(0, isDone ? process.exitValue() : -1, module + ":\n" + said);
      said.lines().filter(line -> line.contains("skipped=")).forEach(System.out::println);
    }
  }
}
