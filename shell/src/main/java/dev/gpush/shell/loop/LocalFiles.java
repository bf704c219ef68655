package dev.gpush.shell.loop;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The user's files, as seen from a folder. */
final class LocalFiles {
  /** More cannot be looked through on a screen. */
  private static final int MOST = 500;

  private final Path folder;
  private final Path home;
  private final String previous;

  /**
   * @param previous the folder before this one; empty: none
   */
  LocalFiles(Path folder, Path home, String previous) {
    this.folder = folder;
    this.home = home;
    this.previous = previous;
  }

  Path folder() {
    return folder;
  }

  Path home() {
    return home;
  }

  /**
   * The folder that {@code cd} means, without links in its name, as a program that was started
   * there would have it.
   *
   * @param to the words after it
   * @throws IOException for a folder that cannot be used; its message says why
   */
  Path changed(List<String> to) throws IOException {
    if (to.size() > 1) {
      throw new IOException("cd takes one folder; quote a name that has spaces");
    }
    String word = to.isEmpty() ? home.toString() : to.getFirst();
    if (word.equals("-") && previous.isEmpty()) {
      throw new IOException("there is no folder before this one");
    }
    try {
      Path found = folder.resolve(word.equals("-") ? previous : word).normalize().toRealPath();
      if (!Files.isDirectory(found)) {
        throw new NotDirectoryException(word);
      }
      if (!Files.isExecutable(found)) {
        throw new AccessDeniedException(word);
      }
      return found;
    } catch (InvalidPathException noName) {
      throw new IOException("no folder has this name", noName);
    }
  }

  /**
   * Paths as they would be typed; folders end in a slash, hidden files only where a dot was typed.
   */
  List<String> startingWith(String typed) {
    return startingWith(typed, _ -> true);
  }

  /** {@link #startingWith(String)}, of folders only. */
  List<String> foldersStartingWith(String typed) {
    return startingWith(typed, entry -> Files.isDirectory(entry));
  }

  private List<String> startingWith(String typed, Predicate<Path> kind) {
    int slash = typed.lastIndexOf('/') + 1;
    String lead = typed.substring(0, slash);
    String begun = typed.substring(slash);
    var found = new ArrayList<String>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory(lead))) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        boolean wanted = name.startsWith(begun) && (begun.startsWith(".") || !name.startsWith("."));
        if (wanted && found.size() < MOST && kind.test(entry)) {
          found.add(lead + name + (Files.isDirectory(entry) ? "/" : ""));
        }
      }
    } catch (IOException | DirectoryIteratorException | InvalidPathException none) {
      return List.of();
    }
    found.sort(String::compareTo);
    return found;
  }

  private Path directory(String lead) {
    return lead.startsWith("~/") ? home.resolve(lead.substring(2)) : folder.resolve(lead);
  }
}
