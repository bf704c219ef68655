package dev.gpush.gateway.ssh.files;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/** Files that readers find as they were or as they will be, never in between. */
final class WholeFile {
  private WholeFile() {}

  /** A folder that only its owner can read; an existing one is left as it is. */
  static void makeFolder(Path folder) throws IOException {
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  static void write(Path file, String text, String mode) throws IOException {
    write(file, text.getBytes(StandardCharsets.UTF_8), mode);
  }

  /**
   * @param mode as ls shows it; never more than this, not even for a moment
   */
  static void write(Path file, byte[] bytes, String mode) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    Path fresh =
        Files.createTempFile(
            folder,
            ".gpush-",
            ".new",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      Files.write(fresh, bytes);
      Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString(mode));
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }
}
