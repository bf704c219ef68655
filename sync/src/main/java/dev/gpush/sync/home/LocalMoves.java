package dev.gpush.sync.home;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Objects;

/** Moves of files on this machine that replace nothing. */
public final class LocalMoves {
  private LocalMoves() {}

  /**
   * Moves a file or link to a place where nothing is, also when something is made there at this
   * moment, as far as the disk can: a second name first, then the first one goes.
   *
   * @throws FileAlreadyExistsException something is there
   */
  public static void moveIfFree(Path from, Path to) throws IOException {
    try {
      Files.createLink(to, from);
    } catch (FileAlreadyExistsException taken) {
      throw taken;
    } catch (FileSystemException | UnsupportedOperationException noLinks) {
      Files.move(from, to); // another disk, or one without hard links
      return;
    }
    Files.delete(from);
  }

  /** Removes a folder and those above it while they are empty, but not the last one. */
  public static void removeEmpty(Path folder, Path last) throws IOException {
    for (Path at = folder; at.startsWith(last) && !at.equals(last); ) {
      try {
        Files.deleteIfExists(at);
      } catch (FileSystemException notEmpty) {
        return;
      }
      at = Objects.requireNonNull(at.getParent());
    }
  }

  /** For those who may read it. */
  public static void makeExecutable(Path file) throws IOException {
    var permissions = Files.getPosixFilePermissions(file);
    for (String who : List.of("OWNER", "GROUP", "OTHERS")) {
      if (permissions.contains(PosixFilePermission.valueOf(who + "_READ"))) {
        permissions.add(PosixFilePermission.valueOf(who + "_EXECUTE"));
      }
    }
    Files.setPosixFilePermissions(file, permissions);
  }
}
