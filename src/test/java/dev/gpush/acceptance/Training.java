package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * The scripts of src/test/resources/training, which print their result with all digits. What a
 * plain torchrun on this machine prints for as many ranks is what a run must print.
 *
 * @param python the Python of the torch rig on this machine
 */
record Training(String python) {
  private static final Path SCRIPTS = World.repository().resolve("src/test/resources/training");

  private static final Pattern RESULT = Pattern.compile("\\w+ of \\d+: -?\\d\\S*");

  /** Of torchrun, by script and number of ranks: several tests want the same ones. */
  private static final Map<String, List<String>> EXPECTED = new ConcurrentHashMap<>();

  /** Puts a script into the project. */
  static void put(World world, String script) throws IOException {
    world.file(script, Files.readString(SCRIPTS.resolve(script)));
  }

  /**
   * One rank on each node.
   *
   * @param python of the nodes
   * @param words before the script: of a launcher, or none
   */
  Result runs(World world, int ranks, String python, String script, String... words)
      throws Exception {
    put(world, script);
    var command = new ArrayList<>(List.of("run", "--nodes", "" + ranks, "--nproc", "1"));
    command.addAll(List.of("--python", python));
    command.addAll(List.of(words));
    command.add(script);
    Result run = world.gpush(command.toArray(String[]::new)).succeeded();
    assertEquals(expected(script, ranks), results(run.out()), run::toString);
    return run;
  }

  private List<String> expected(String script, int ranks) {
    return EXPECTED.computeIfAbsent(script + " " + ranks, _ -> torchrun(script, ranks));
  }

  private List<String> torchrun(String script, int ranks) {
    try {
      var builder =
          new ProcessBuilder(
              python,
              "-m",
              "torch.distributed.run",
              "--standalone",
              "--nproc_per_node=" + ranks,
              SCRIPTS.resolve(script).toString());
      builder.environment().putAll(environment());
      Process process = builder.redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(0, process.waitFor(), said);
      List<String> results = results(said);
      assertEquals(false, results.isEmpty(), said);
      return results;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stop);
    }
  }

  /** One thread and process for each rank. */
  Map<String, String> environment() {
    return Map.of(
        "OMP_NUM_THREADS", "1", "DS_ACCELERATOR", "cpu", "TORCHINDUCTOR_COMPILE_THREADS", "1");
  }

  boolean hasTrainers() {
    return isMade(".trainers");
  }

  /** DeepSpeed compiles a part of itself, which not every machine can. */
  boolean hasDeepSpeed() {
    return isMade(".deepspeed");
  }

  private boolean isMade(String mark) {
    return Files.exists(Path.of(python).resolveSibling("../" + mark).normalize());
  }

  private static List<String> results(String output) {
    return RESULT.matcher(output).results().map(MatchResult::group).sorted().toList();
  }
}
