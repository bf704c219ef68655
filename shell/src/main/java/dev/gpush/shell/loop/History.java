package dev.gpush.shell.loop;

import dev.gpush.core.file.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;

/** The history file of each project, under the home, readable only by the user. */
final class History {
  private static final List<String> MARKS = List.of("gpush.yaml", ".git");

  private static final int HASH_BYTES = 4;

  private final Path home;

  History(Path home) {
    this.home = home;
  }

  /**
   * The file of the project around this folder; empty when it cannot be kept; the loop works
   * without it.
   */
  Optional<Path> file(Path folder) {
    try {
      Path histories = home.resolve("history");
      if (!Files.isDirectory(histories)) {
        Files.createDirectories(
            histories,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      }
      Path project = project(folder);
      Path name = project.getFileName();
      String hash = Sha256.hex(project.toString(), HASH_BYTES);
      return Optional.of(histories.resolve((name == null ? "root" : name) + "-" + hash));
    } catch (IOException unwritable) {
      return Optional.empty();
    }
  }

  /** Nearest folder with a gpush.yaml, else with a .git, else the folder itself. */
  static Path project(Path folder) {
    for (String mark : MARKS) {
      for (Path at = folder; at != null; at = at.getParent()) {
        if (Files.exists(at.resolve(mark))) {
          return at;
        }
      }
    }
    return folder;
  }
}
