package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * User stories as they look in a terminal, one file each in {@code resources/transcripts}: {@code
 * #} tells the story, {@code @ FILE} and {@code |} lines write a file of the project, {@code $}
 * lines are typed (by {@code sh}, with gpush on the PATH), {@code ? N} is the exit status when it
 * is not 0, everything else is what standard output and then standard error say. {@code [home]} and
 * {@code [proj]} stand for the folders, {@code [..]} for anything. {@code -Dgpush.golden=write}
 * writes what was seen.
 */
@Execution(ExecutionMode.CONCURRENT)
final class TranscriptIT {
  private static final boolean WRITES = "write".equals(System.getProperty("gpush.golden"));

  @TestFactory
  Stream<DynamicTest> stories() throws IOException {
    List<Path> files;
    try (Stream<Path> all =
        Files.list(World.repository().resolve("src/test/resources/transcripts"))) {
      files = all.filter(file -> file.toString().endsWith(".txt")).sorted().toList();
    }
    assertTrue(files.size() >= 4, "the transcripts are there");
    return files.stream()
        .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> play(file)));
  }

  private static void play(Path file) throws Exception {
    List<String> lines = Files.readAllLines(file);
    var seen = new ArrayList<String>();
    try (World world = World.fresh()) {
      int at = 0;
      while (at < lines.size()) {
        String line = lines.get(at++);
        seen.add(line);
        if (line.startsWith("@ ")) {
          var text = new StringBuilder();
          while (at < lines.size() && lines.get(at).startsWith("|")) {
            seen.add(lines.get(at));
            text.append(lines.get(at++).substring(1).replaceFirst("^ ", "")).append('\n');
          }
          world.file(line.substring(2).replace("[home]", world.home().toString()), text.toString());
        } else if (line.startsWith("$ ")) {
          var expected = new ArrayList<String>();
          while (at < lines.size() && !isStep(lines.get(at))) {
            expected.add(lines.get(at++));
          }
          while (!expected.isEmpty() && expected.getLast().isEmpty()) {
            expected.removeLast();
          }
          List<String> actual = typed(world, line.substring(2));
          compare(file, line, expected, actual);
          seen.addAll(matches(expected, actual) ? expected : actual);
          seen.add("");
        }
      }
    }
    if (WRITES) {
      Files.write(file, squeezed(seen));
    }
  }

  private static boolean isStep(String line) {
    return line.startsWith("$ ") || line.startsWith("# ") || line.startsWith("@ ");
  }

  private static List<String> typed(World world, String command) throws Exception {
    String path = "PATH='" + World.repository() + "':$PATH; ";
    Result result = world.run(new byte[0], "sh", "-c", path + command);
    var lines = new ArrayList<String>();
    for (String text : List.of(result.out(), result.err())) {
      text.lines()
          .filter(line -> !isProgress(line))
          .map(line -> line.replace(world.home().toString(), "[home]"))
          .map(line -> line.replace(world.project().toString(), "[proj]"))
          .forEach(lines::add);
    }
    if (result.exit() != 0) {
      lines.add("? " + result.exit());
    }
    return lines;
  }

  /** What is said only when something takes longer than half a second. */
  private static boolean isProgress(String line) {
    return line.endsWith(" …");
  }

  private static void compare(
      Path file, String command, List<String> expected, List<String> actual) {
    if (!WRITES && !matches(expected, actual)) {
      assertEquals(
          String.join("\n", expected),
          String.join("\n", actual),
          file.getFileName() + ": " + command);
    }
  }

  private static boolean matches(List<String> expected, List<String> actual) {
    if (expected.size() != actual.size()) {
      return false;
    }
    for (int i = 0; i < expected.size(); i++) {
      String pattern = "\\Q" + expected.get(i).replace("[..]", "\\E.*\\Q") + "\\E";
      if (!actual.get(i).matches(pattern)) {
        return false;
      }
    }
    return true;
  }

  /** One empty line between steps. */
  private static List<String> squeezed(List<String> lines) {
    var kept = new ArrayList<String>();
    for (String line : lines) {
      if (!line.isEmpty() || (!kept.isEmpty() && !kept.getLast().isEmpty())) {
        kept.add(line);
      }
    }
    return kept;
  }
}
