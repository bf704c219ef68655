package dev.gpush.shell.loop;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Names of files for completion, as seen from a folder. */
final class LocalFiles {
  /** More cannot be looked through on a screen. */
  private static final int MOST = 500;

  private final Path folder;
  private final Path home;

  LocalFiles(Path folder, Path home) {
    this.folder = folder;
    this.home = home;
  }

  Path home() {
    return home;
  }

  /**
   * Paths as they would be typed; folders end in a slash, hidden files only where a dot was typed.
   */
  List<String> startingWith(String typed) {
    int slash = typed.lastIndexOf('/') + 1;
    String lead = typed.substring(0, slash);
    String begun = typed.substring(slash);
    var found = new ArrayList<String>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory(lead))) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        boolean wanted = name.startsWith(begun) && (begun.startsWith(".") || !name.startsWith("."));
        if (wanted && found.size() < MOST) {
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
