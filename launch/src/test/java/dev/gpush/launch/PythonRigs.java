package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.testkit.rig.Script;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the source tree has for tests: examples, and a Python with torch where its rig is up. */
final class PythonRigs {
  private PythonRigs() {}

  /**
   * The path of its python. Without the rig the test is skipped, or fails where rigs are required.
   */
  static String torchPython() throws IOException, InterruptedException {
    return of("torch");
  }

  /** The folder with its Pythons; without it as above. */
  static String launchers() throws IOException, InterruptedException {
    return of("launchers");
  }

  private static String of(String rig) throws IOException, InterruptedException {
    boolean isRequired = Script.isRequired(rig);
    Process process =
        new ProcessBuilder(
                root().resolve("src/test/rigs").resolve(rig).toString(),
                isRequired ? "up" : "status")
            .start();
    String said = text(process.getInputStream());
    String problem = text(process.getErrorStream());
    boolean isUp = process.waitFor() == 0;
    assertTrue(isUp || !isRequired, problem);
    assumeTrue(isUp, problem);
    return said;
  }

  private static String text(java.io.InputStream in) throws IOException {
    return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
  }

  static String example(String name) throws IOException {
    return Files.readString(root().resolve("examples").resolve(name));
  }

  private static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("src/test/rigs"))) {
      folder = folder.getParent();
    }
    return folder;
  }
}
