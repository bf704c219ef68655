package dev.gpush.testkit.rig;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A script under {@code src/test/rigs}. */
public record Script(Path path) {
  static Script of(String name) {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("src/test/rigs"))) {
      folder = Optional.ofNullable(folder.getParent()).orElseThrow();
    }
    return new Script(folder.resolve("src/test/rigs").resolve(name));
  }

  /**
   * Whether a test without this rig fails, rather than being skipped: GPUSH_REQUIRE_RIGS has its
   * name, or is {@code all}.
   */
  public static boolean isRequired(String rig) {
    List<String> required =
        List.of(System.getenv().getOrDefault("GPUSH_REQUIRE_RIGS", "").split(" "));
    return required.contains(rig) || required.contains("all");
  }

  /** What a program printed, without the last line's end, and its status. */
  public record Ended(int status, String output, String errors) {}

  Ended run(String... words) throws IOException, InterruptedException {
    return fed("", words);
  }

  Ended fed(String input, String... words) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of(path.toString()));
    command.addAll(List.of(words));
    return program(input, command);
  }

  static Ended program(String input, List<String> command)
      throws IOException, InterruptedException {
    Path errors = Files.createTempFile("rig", ".err");
    try {
      Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
      try (var stdin = process.getOutputStream()) {
        stdin.write(input.getBytes(StandardCharsets.UTF_8));
      }
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return new Ended(process.waitFor(), output.strip(), Files.readString(errors).strip());
    } finally {
      Files.delete(errors);
    }
  }
}
