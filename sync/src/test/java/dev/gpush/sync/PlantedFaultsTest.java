package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@link SyncOracleTest} finds each fault of {@code src/test/planted}. A file there says what the
 * fault is, the source, the text to replace, and by what; what no longer fits is red here.
 */
@Tag("sync")
final class PlantedFaultsTest {
  private static final String SOURCES = "sync/src/main/java";
  private static final int SEEDS = 20;
  private static final int FOUND = 1;

  @TempDir Path copy;

  static Stream<Path> faults() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("src/test/planted"))) {
      return files.sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("faults")
  @Timeout(3600)
  void isFound(Path fault) throws Exception {
    plant(fault);
    for (int seed = 1; seed <= SEEDS; seed++) {
      Path output = copy.resolve("output");
      int status = model(seed, output);
      if (status == FOUND) {
        String said = Files.readString(output);
        String seen = said.lines().filter(line -> line.startsWith("FOUND ")).findFirst().orElse("");
        assertTrue(seen.contains("seed " + seed + ", "), said);
        System.out.println(fault.getFileName() + ": " + seen);
        return;
      }
      assertEquals(0, status, () -> read(output));
    }
    throw new AssertionError("not found in " + SEEDS + " seeds: " + fault.getFileName());
  }

  /** The agent with the fault, and the classes that differ. */
  private void plant(Path fault) throws IOException {
    String[] parts = Files.readString(fault).split("(?m)^----(?: |\n)", -1);
    assertEquals(4, parts.length, fault + ": what, file, text, by");
    Path root = FakeNode.agent().getParent();
    copyOf(root, "agent/gpush_agent");
    String name = parts[1].strip();
    String source = Files.readString(root.resolve(name));
    assertEquals(2, source.split(Pattern.quote(parts[2]), -1).length, fault + ": once");
    Path changed = copy.resolve(name);
    Files.createDirectories(changed.getParent());
    Files.writeString(changed, source.replace(parts[2], parts[3]));
    Files.createDirectories(copy.resolve("sync"));
    Files.createDirectories(copy.resolve("classes"));
    if (name.startsWith(SOURCES)) {
      var compiler = ToolProvider.getSystemJavaCompiler();
      var said = new StringWriter();
      try (var files = compiler.getStandardFileManager(null, null, null)) {
        var options = List.of("-proc:none", "-nowarn", "-d", copy + "/classes", "-cp", classes());
        var task =
            compiler.getTask(said, files, null, options, null, files.getJavaFileObjects(changed));
        assertTrue(task.call(), said::toString);
      }
    }
  }

  private void copyOf(Path root, String folder) throws IOException {
    try (Stream<Path> all = Files.walk(root.resolve(folder))) {
      for (Path from : all.filter(each -> each.toString().endsWith(".py")).toList()) {
        Path to = copy.resolve(root.relativize(from).toString());
        Files.createDirectories(to.getParent());
        Files.copy(from, to);
      }
    }
  }

  /** The status of a Java machine of its own, in a folder below which the copy of the agent is. */
  private int model(int seed, Path output) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin/java").toString(),
            "-ea",
            "--enable-native-access=ALL-UNNAMED",
            "-Dgpush.seed=" + seed,
            "-Dgpush.rounds=2000",
            "-cp",
            copy.resolve("classes") + File.pathSeparator + classes(),
            PlantedModel.class.getName(),
            Files.createDirectories(copy.resolve("base" + seed)).toString())
        .directory(copy.resolve("sync").toFile())
        .redirectErrorStream(true)
        .redirectOutput(output.toFile())
        .start()
        .waitFor();
  }

  private static String classes() {
    return System.getProperty("java.class.path");
  }

  private static String read(Path output) {
    try {
      return Files.readString(output);
    } catch (IOException failed) {
      return failed.toString();
    }
  }

  /** The model once; its status is {@link #FOUND} if something does not hold. */
  static final class PlantedModel {
    private PlantedModel() {}

    public static void main(String[] args) throws Exception {
      var model = new SyncOracleTest();
      model.base = Path.of(args[0]);
      model.start();
      int status = 0;
      try {
        model.whateverHappensNothingIsLost();
      } catch (AssertionError found) {
        System.out.println("FOUND " + found.getMessage());
        status = FOUND;
      } catch (Exception failed) {
        failed.printStackTrace();
        status = 2;
      } finally {
        model.unmount();
        model.stop();
      }
      System.exit(status);
    }
  }
}
