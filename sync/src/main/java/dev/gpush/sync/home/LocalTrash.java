package dev.gpush.sync.home;

import dev.gpush.core.file.WholeFile;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Files of the laptop that were deleted or replaced, because they were on a node: one folder for
 * each second in which that happened, and in it the files under their paths. It is bounded, as the
 * trash of a node is: beyond the newest folder, the oldest go.
 */
public final class LocalTrash {
  /** Of all folders but the newest: as much as a workspace may be before gpush asks. */
  private static final long MOST_BYTES = 1L << 30;

  /** Beside the newest. */
  private static final int MOST_FOLDERS = 100;

  private static final DateTimeFormatter NAME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  private final Path folder;
  private final long mostBytes;
  private final Clock clock;

  /** What was put there since the last look at the limit. */
  private final Set<Path> fresh = new HashSet<>();

  /** What it had when it was counted last, if nothing was done with it since. */
  private Optional<SyncView.Trash> counted = Optional.empty();

  /**
   * @param folder of this workspace alone; made when something is kept
   */
  public LocalTrash(Path folder, Clock clock) {
    this(folder, MOST_BYTES, clock);
  }

  LocalTrash(Path folder, long mostBytes, Clock clock) {
    this.folder = folder;
    this.mostBytes = mostBytes;
    this.clock = clock;
  }

  /**
   * Moves a file or link into it, never over another file.
   *
   * @param path of the file in its workspace
   * @return where it is now
   */
  public Path take(Path file, String path) throws IOException {
    counted = Optional.empty();
    Path place = place(path);
    fresh.add(folder.resolve(folder.relativize(place).getName(0)));
    try {
      return Files.move(file, place, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException otherDisk) {
      return moveAcross(file, place);
    } finally {
      // What could not be moved leaves no empty folder, which would count as one of the newest.
      LocalMoves.removeEmpty(Objects.requireNonNull(place.getParent()), folder);
    }
  }

  /** As {@link #take}, of what need not be there. */
  public void takeIfThere(Path file, String path) throws IOException {
    try {
      attributes(file);
    } catch (NoSuchFileException none) {
      return;
    }
    take(file, path);
  }

  /**
   * As {@link LocalMoves#replace}, but what was there is kept.
   *
   * @param path of the file in its workspace
   */
  public boolean replace(Path by, Path file, String path, LocalMoves.Check check)
      throws IOException {
    counted = Optional.empty();
    Path kept = place(path);
    fresh.add(folder.resolve(folder.relativize(kept).getName(0)));
    try {
      keep(file, kept); // First: no crash and no failure may leave it without a name.
      boolean isReplaced = check.is(kept) && LocalMoves.replace(by, file, check);
      if (!isReplaced) {
        Files.delete(kept);
      }
      return isReplaced;
    } finally {
      LocalMoves.removeEmpty(Objects.requireNonNull(kept.getParent()), folder);
    }
  }

  /** By another name, or where that cannot be, by a copy. */
  private static void keep(Path file, Path kept) throws IOException {
    if (Files.isSymbolicLink(file)) {
      copy(file, kept);
      return;
    }
    try {
      Files.createLink(kept, file);
    } catch (FileAlreadyExistsException | NoSuchFileException other) {
      throw other;
    } catch (FileSystemException | UnsupportedOperationException otherDisk) {
      copy(file, kept);
    }
  }

  /** A place for a file that is not there yet, in a folder of this second. On any thread. */
  public Path place(String path) throws IOException {
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path place = free(folder.resolve(NAME.format(clock.now())), path);
    Files.createDirectories(Objects.requireNonNull(place.getParent()));
    return place;
  }

  /** The file stays where it is until its copy is whole; what is written to it meanwhile, too. */
  private static Path moveAcross(Path file, Path place) throws IOException {
    BasicFileAttributes before = attributes(file);
    Path aside = aside(file);
    try {
      copy(file, place);
      Files.move(file, aside, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException stays) {
      Files.deleteIfExists(place);
      throw stays;
    }
    try {
      BasicFileAttributes now = attributes(aside);
      if (now.size() != before.size()
          || !now.lastModifiedTime().equals(before.lastModifiedTime())) {
        copy(aside, place);
      }
      Files.delete(aside);
    } catch (IOException failed) {
      LocalMoves.moveIfFree(aside, file);
      throw failed;
    }
    return place;
  }

  /** The other disk has it before this one loses it. */
  private static void copy(Path from, Path to) throws IOException {
    Files.copy(
        from,
        to,
        LinkOption.NOFOLLOW_LINKS,
        StandardCopyOption.COPY_ATTRIBUTES,
        StandardCopyOption.REPLACE_EXISTING);
    if (Files.isRegularFile(to, LinkOption.NOFOLLOW_LINKS)) {
      WholeFile.sync(to);
    }
    WholeFile.sync(Objects.requireNonNull(to.getParent()));
  }

  private static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static Path free(Path second, String path) {
    Path at = second;
    for (int i = 2; isTaken(at, path); i++) {
      at = second.resolveSibling(second.getFileName() + "-" + i);
    }
    return at.resolve(path);
  }

  /** Where a folder would be, a file of the same second may be, or a link that leads elsewhere. */
  private static boolean isTaken(Path folder, String path) {
    Path at = folder;
    for (Path name : Path.of(path)) {
      if (exists(at) && !Files.isDirectory(at, LinkOption.NOFOLLOW_LINKS)) {
        return true;
      }
      at = at.resolve(name);
    }
    return exists(at);
  }

  private static Path aside(Path file) {
    Path aside = file.resolveSibling("." + file.getFileName() + ".gpush-old");
    for (int i = 2; exists(aside); i++) {
      aside = file.resolveSibling("." + file.getFileName() + ".gpush-old" + i);
    }
    return aside;
  }

  /**
   * Moves a file out of it again, never over another file.
   *
   * @param kept as {@link #take} gave it
   * @throws java.nio.file.FileAlreadyExistsException it stays where it is
   */
  public void giveBack(Path kept, Path to) throws IOException {
    counted = Optional.empty();
    LocalMoves.moveIfFree(kept, to);
    LocalMoves.removeEmpty(Objects.requireNonNull(kept.getParent()), folder);
  }

  private static boolean exists(Path path) {
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  /** What it has, counted when that may have changed; empty when there is nothing. */
  public Optional<SyncView.Trash> contents() {
    if (counted.isEmpty()) {
      counted = Optional.of(count(folder));
    }
    return counted.filter(trash -> trash.files() > 0);
  }

  private static SyncView.Trash count(Path below) {
    var bytes = new AtomicLong();
    var files = new AtomicInteger();
    if (Files.isDirectory(below, LinkOption.NOFOLLOW_LINKS)) {
      try (Stream<Path> all = Files.walk(below)) {
        all.filter(path -> !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
            .forEach(
                path -> {
                  bytes.addAndGet(size(path));
                  files.incrementAndGet();
                });
      } catch (IOException | UncheckedIOException changing) {
        // It is removed at this moment: what was counted so far is about right.
      }
    }
    return new SyncView.Trash(Optional.empty(), below.toString(), bytes.get(), files.get());
  }

  // ---- the limit

  /**
   * Removes what is beyond the limit, the oldest first. What was put there since the last time
   * stays, whatever its size, as does what cannot be removed.
   */
  public void prune() throws IOException {
    counted = Optional.empty();
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    List<Path> folders;
    try (Stream<Path> found = Files.list(folder)) {
      folders =
          new ArrayList<>(
              found
                  .filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS))
                  .sorted(Comparator.comparing(Path::getFileName).reversed())
                  .toList());
    }
    long left = mostBytes;
    for (int i = 1; i < folders.size(); i++) {
      left -= count(folders.get(i)).bytes();
      if ((left < 0 || i > MOST_FOLDERS) && !fresh.contains(folders.get(i))) {
        remove(folders.get(i));
      }
    }
    fresh.clear();
  }

  private static long size(Path path) {
    try {
      return attributes(path).size();
    } catch (IOException gone) {
      return 0;
    }
  }

  private static void remove(Path below) {
    try (Stream<Path> all = Files.walk(below)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException | UncheckedIOException stays) {
      // It is tried again when something else is put there.
    }
  }
}
