package dev.gpush.sync.home;

import dev.gpush.sync.scan.FileReading;
import dev.gpush.sync.tree.Entry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Optional;

/** Whether files and links of the working tree are as they are expected. */
public final class LocalFile {
  private LocalFile() {}

  /** Whether this is there, or nothing if nothing is expected. */
  public static boolean isAsExpected(Path file, Optional<Entry> expected) {
    try {
      return expected.isPresent()
          ? is(file, expected.get())
          : !Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException unreadable) {
      return false;
    }
  }

  public static boolean is(Path file, Entry sent) throws IOException {
    return switch (sent) {
      case Entry.File(var size, var executable, var hash) ->
          Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
              && Files.size(file) == size
              && isExecutable(file) == executable
              && FileReading.hash(file).equals(hash);
      case Entry.Link(var target) ->
          Files.isSymbolicLink(file) && Files.readSymbolicLink(file).toString().equals(target);
    };
  }

  private static boolean isExecutable(Path file) throws IOException {
    return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OWNER_EXECUTE);
  }
}
