package dev.gpush.core.file;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;

/**
 * Writes files that readers find as they were or as they will be, never in between: a new file
 * beside the old one takes its name. Several processes may write the same one; the last wins.
 */
public final class WholeFile {
  /** Permissions as ls shows them: only the owner reads and writes. */
  public static final String PRIVATE = "rw-------";

  private WholeFile() {}

  /** Writes the content of the file. */
  @FunctionalInterface
  public interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /** A folder that only its owner can read; an existing one is left as it is. */
  public static void makeFolder(Path folder) throws IOException {
    Files.createDirectories(folder, permissions("rwx------"));
  }

  /**
   * Writes a text.
   *
   * @param mode the file's permissions as ls shows them; it never has more, not for a moment
   */
  public static void write(Path file, String text, String mode) throws IOException {
    write(file, bytes(text), mode);
  }

  /**
   * Writes bytes.
   *
   * @param mode as in {@link #write(Path, String, String)}
   */
  public static void write(Path file, byte[] bytes, String mode) throws IOException {
    replace(file, out -> out.write(bytes), mode, false);
  }

  /** Writes a file that only its owner reads, in pieces. */
  public static void write(Path file, Content content) throws IOException {
    replace(file, content, PRIVATE, false);
  }

  /** Writes a text that only its owner reads, and returns when it would survive a loss of power. */
  public static void writeDurably(Path file, String text) throws IOException {
    byte[] bytes = bytes(text);
    replace(file, out -> out.write(bytes), PRIVATE, true);
    sync(folder(file));
  }

  /**
   * Writes a file of the user's own: through a symbolic link, because users keep such files in
   * repositories, with its mode, and not one that is read-only, although its folder would allow it.
   * After a loss of power it is as it was or as it is now.
   *
   * @param mode of a new file, as in {@link #write(Path, String, String)}
   */
  public static void rewrite(Path file, byte[] bytes, String mode) throws IOException {
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      replace(file, out -> out.write(bytes), mode, true);
      return;
    }
    Path target = file.toRealPath();
    if (!Files.isWritable(target)) {
      throw new IOException("it is read-only");
    }
    String same = PosixFilePermissions.toString(Files.getPosixFilePermissions(target));
    replace(target, out -> out.write(bytes), same, true);
  }

  /** Makes the content of a file, or the names in a folder, survive a loss of power. */
  public static void sync(Path file) throws IOException {
    boolean isInterrupted = false;
    while (true) {
      try (var opened = FileChannel.open(file, StandardOpenOption.READ)) {
        opened.force(true);
        break;
      } catch (ClosedByInterruptException interrupt) {
        isInterrupted = Thread.interrupted() || isInterrupted;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void replace(Path file, Content content, String mode, boolean isDurable)
      throws IOException {
    Path fresh =
        Files.createTempFile(
            folder(file), "." + file.getFileName() + ".", ".new", permissions(PRIVATE));
    try {
      // No channel: an interrupt closes it, and what a stopped command must still note would be
      // lost.
      try (var out = new FileOutputStream(fresh.toFile())) {
        content.writeTo(out);
        if (isDurable) {
          out.getFD().sync();
        }
      }
      if (!mode.equals(PRIVATE)) {
        Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString(mode));
      }
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  private static Path folder(Path file) {
    return Objects.requireNonNull(file.toAbsolutePath().getParent(), "a file has a folder");
  }

  private static FileAttribute<Set<PosixFilePermission>> permissions(String mode) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
