package dev.gpush.templates;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Optional;
import java.util.function.Predicate;

/** Where the workspace of a folder begins, and why there. */
record WorkspaceRoot(Path path, String reason) {
  static final String PROJECT_FILE = "gpush.yaml";

  static WorkspaceRoot of(Path folder) {
    Path start = folder.toAbsolutePath().normalize();
    return nearest(start, path -> Files.exists(path.resolve(PROJECT_FILE)))
        .map(path -> new WorkspaceRoot(path, "nearest gpush.yaml"))
        .or(
            () ->
                nearest(start, path -> Files.exists(path.resolve(".git")))
                    .map(path -> new WorkspaceRoot(path, "git top level")))
        .orElse(new WorkspaceRoot(start, "this folder"));
  }

  private static Optional<Path> nearest(Path start, Predicate<Path> isRoot) {
    for (Path path = start; path != null; path = path.getParent()) {
      if (isRoot.test(path) && (path.equals(start) || !isOpenToAll(path))) {
        return Optional.of(path);
      }
    }
    return Optional.empty();
  }

  /**
   * A gpush.yaml in /tmp, where any user can put one, must not apply to other users' folders below
   * it.
   */
  private static boolean isOpenToAll(Path folder) {
    try {
      return Files.getPosixFilePermissions(folder).contains(PosixFilePermission.OTHERS_WRITE);
    } catch (IOException | UnsupportedOperationException unknown) {
      return true;
    }
  }
}
