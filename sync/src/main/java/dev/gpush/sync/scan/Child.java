package dev.gpush.sync.scan;

import dev.gpush.sync.tree.Manifest;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One name in a folder, as it was just now.
 *
 * @param look that of a folder where it cannot be looked at: a disk is mounted there that does not
 *     answer, or not to this user
 * @param unseen why it cannot be looked at
 */
record Child(String name, Path file, FileStamp.Look look, Optional<FileSystemException> unseen) {
  /** A folder in which names come and go all the time is taken as the last of these shows it. */
  private static final int MOST_LISTINGS = 5;

  /**
   * By name. Nothing when the folder is gone. One in which a name vanishes is listed again: all of
   * it may have been moved away.
   *
   * @throws FileSystemException the folder cannot be read
   */
  static Map<String, Child> allIn(Path folder) throws FileSystemException {
    for (int listing = 1; ; listing++) {
      var children = new TreeMap<String, Child>(Manifest.ORDER);
      if (list(folder, children) || listing == MOST_LISTINGS) {
        return children;
      }
    }
  }

  /** Whether each name was still there when it was looked at. */
  private static boolean list(Path folder, Map<String, Child> children) throws FileSystemException {
    boolean isWhole = true;
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      for (Path file : entries) {
        isWhole &= look(file, children);
      }
    } catch (NoSuchFileException | NotDirectoryException gone) {
      children.clear();
    } catch (DirectoryIteratorException broken) {
      throw unread(folder, Objects.requireNonNull(broken.getCause()));
    } catch (FileSystemException closed) {
      throw closed;
    } catch (IOException failed) {
      throw unread(folder, failed);
    }
    Collection<Child> all = children.values();
    if (!all.isEmpty() && all.stream().allMatch(child -> child.unseen().isPresent())) {
      throw all.iterator().next().unseen().orElseThrow();
    }
    return isWhole || children.isEmpty();
  }

  private static boolean look(Path file, Map<String, Child> children) throws IOException {
    String name = file.getFileName().toString();
    try {
      children.put(name, new Child(name, file, FileStamp.look(file), Optional.empty()));
    } catch (NoSuchFileException gone) {
      return false;
    } catch (FileSystemException failed) {
      children.put(name, new Child(name, file, FileStamp.Look.ofFolder(), Optional.of(failed)));
    }
    return true;
  }

  private static FileSystemException unread(Path folder, IOException why) {
    return why instanceof FileSystemException known
        ? known
        : new FileSystemException(folder.toString(), null, why.getMessage());
  }

  boolean isUtf8() {
    return TreeWalk.isUtf8(file.getFileName());
  }
}
