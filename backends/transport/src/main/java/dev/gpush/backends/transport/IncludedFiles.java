package dev.gpush.backends.transport;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;

/** The files that an Include line of an ssh configuration means. */
public final class IncludedFiles {
  private IncludedFiles() {}

  /**
   * Those that can be read, in the order in which ssh reads them.
   *
   * @param pattern as written: may begin with a tilde, and have * and ? in the file's name
   * @param base where a relative one begins
   */
  public static List<Path> of(String pattern, Path base, Path home) throws IOException {
    Path path = base.resolve(tilde(pattern, home));
    Path folder = path.getParent();
    Path name = path.getFileName();
    if (folder == null || name == null || !Files.isDirectory(folder)) {
      return List.of();
    }
    var found = new ArrayList<Path>();
    try (DirectoryStream<Path> names = Files.newDirectoryStream(folder, name.toString())) {
      names.forEach(found::add);
    }
    found.removeIf(file -> !Files.isReadable(file) || Files.isDirectory(file));
    Collections.sort(found);
    return found;
  }

  /** The path with the home folder in place of a tilde in front. */
  public static Path tilde(String written, Path home) {
    return Path.of(written.replaceFirst("^~(?=/|$)", Matcher.quoteReplacement(home.toString())));
  }
}
