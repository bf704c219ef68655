package dev.gpush.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The agent's own tests, {@code agent/tests}, each file in a Python of its own, with the seed and
 * rounds of this build. The slow ones ({@code run.py}) belong to the long suite.
 */
@Execution(ExecutionMode.CONCURRENT)
class AgentSuiteTest {
  private static final long SEED = Long.getLong("gpush.seed", new Random().nextLong() >>> 1);
  private static final int ROUNDS = Integer.getInteger("gpush.rounds", 1);
  private static final Path TESTS = Path.of("tests");
  private static final long LIMIT_SECONDS = 540;
  private static final Pattern SLOW = Pattern.compile("@slow|^SLOW = True", Pattern.MULTILINE);

  private static final String HOME = Path.of("target").toAbsolutePath().toString();

  /** The largest takes longest, so that it begins first. */
  private static long size(String module) {
    return TESTS.resolve(module + ".py").toFile().length();
  }

  @TestFactory
  List<DynamicTest> theQuickOnes() throws IOException {
    return modules().stream().map(module -> test(List.of(module))).toList();
  }

  @TestFactory
  @Tag("agent")
  List<DynamicTest> theSlowOnes() throws IOException {
    return modules().stream()
        .filter(AgentSuiteTest::hasSlowOnes)
        .map(module -> test(List.of(module, "slow")))
        .toList();
  }

  private static DynamicTest test(List<String> words) {
    return DynamicTest.dynamicTest(
        String.join(" ", words), () -> new Running(words).assertPassed());
  }

  private static boolean hasSlowOnes(String module) {
    try {
      return SLOW.matcher(Files.readString(TESTS.resolve(module + ".py"))).find();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static List<String> modules() throws IOException {
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
    return modules;
  }

  private static final class Running {
    private final List<String> words;
    private final Path log;
    private final Process process;

    Running(List<String> words) {
      this.words = words;
      try {
        this.log = Files.createTempFile("gpush-" + words.getFirst() + "-", ".log");
        var command = new ArrayList<>(List.of("python3", "-B", "run.py"));
        command.addAll(words);
        var builder =
            new ProcessBuilder(command)
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
      assertEquals(0, isDone ? process.exitValue() : -1, words + ":\n" + said);
      said.lines().filter(line -> line.contains("skipped=")).forEach(System.out::println);
    }
  }
}
