package dev.gpush.control.place;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The folder {@code GPUSH_HOME}, for this user alone: it holds the keys to the nodes, the ledger
 * and the control socket.
 */
public final class HomeFolder {
  private static final Set<PosixFilePermission> OWNER_ONLY =
      PosixFilePermissions.fromString("rwx------");

  /** A folder that has one of these is a home of gpush, made by a gateway or begun by the user. */
  private static final Set<String> SIGNS =
      Set.of("keys", "ledger", "nodes", "logs", "config.yaml", "templates");

  private HomeFolder() {}

  /**
   * Creates it if it does not exist, and closes the permissions of a gpush home that others can
   * read. A folder that also serves another purpose is refused and left as it is: closed to others,
   * {@code /srv} or {@code /tmp} would be unusable for that purpose.
   *
   * @throws IOException with a reason for the user
   */
  public static void make(Path home) throws IOException {
    if (!Files.isDirectory(home)) {
      Path above = home.toAbsolutePath().getParent();
      if (above != null) { // With the usual mode: others may work there.
        Files.createDirectories(above);
      }
      Files.createDirectories(home, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
    }
    if (isPrivate(home)) {
      return;
    }
    String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(home));
    if (owner(home) != RunFolder.userId()) {
      throw new IOException(
          home + " belongs to another user, and others can read it (" + mode + ")");
    }
    if (!isOurs(home)) {
      throw new IOException(
          home + " is open to others (" + mode + "), and has files that are not gpush's");
    }
    Files.setPosixFilePermissions(home, OWNER_ONLY);
    if (!isPrivate(home)) {
      throw new IOException(home + " stays open to others: its file system keeps no modes");
    }
  }

  private static boolean isPrivate(Path home) throws IOException {
    Set<PosixFilePermission> open = EnumSet.copyOf(Files.getPosixFilePermissions(home));
    open.removeAll(OWNER_ONLY);
    return open.isEmpty();
  }

  private static long owner(Path home) throws IOException {
    return ((Integer) Files.getAttribute(home, "unix:uid")).longValue();
  }

  private static boolean isOurs(Path home) throws IOException {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(home)) {
      entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
    }
    return names.isEmpty() || names.stream().anyMatch(SIGNS::contains);
  }
}
