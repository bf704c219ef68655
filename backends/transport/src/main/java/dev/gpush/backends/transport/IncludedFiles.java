package dev.gpush.backends.transport;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.PatternSyntaxException;

/** The files that an Include line of an ssh configuration means. */
public final class IncludedFiles {
  private IncludedFiles() {}

  /**
   * Those that can be read, in the order in which ssh reads them.
   *
   * @param pattern as written: may begin with a tilde, and have * and ? in each of its parts
   * @param base where a relative one begins
   */
  public static List<Path> of(String pattern, Path base, Path home) throws IOException {
    Path path = base.resolve(tilde(pattern, home)).toAbsolutePath();
    List<Path> found = List.of(Path.of("/"));
    for (Path part : path) {
      var below = new ArrayList<Path>();
      for (Path folder : found) {
        below.addAll(matching(folder, part.toString()));
      }
      found = below;
    }
    return found.stream()
        .filter(file -> Files.isReadable(file) && !Files.isDirectory(file))
        .sorted()
        .toList();
  }

  /** As glob(3) does it: braces mean nothing, nor does a bracket that is never closed. */
  private static List<Path> matching(Path folder, String part) throws IOException {
    if (!part.matches(".*[*?\\[\\\\].*")) {
      return List.of(folder.resolve(part));
    }
    if (!Files.isDirectory(folder) || !Files.isReadable(folder)) {
      return List.of();
    }
    var found = new ArrayList<Path>();
    String glob = part.replaceAll("[{}]", "\\\\$0").replace("[^", "[!");
    try (DirectoryStream<Path> names = Files.newDirectoryStream(folder, glob)) {
      for (Path name : names) {
        if (part.startsWith(".") || !String.valueOf(name.getFileName()).startsWith(".")) {
          found.add(name);
        }
      }
    } catch (PatternSyntaxException open) {
      return List.of(folder.resolve(part));
    }
    return found;
  }

  /** The path with the home folder in place of a tilde in front. */
  public static Path tilde(String written, Path home) {
    return Path.of(written.replaceFirst("^~(?=/|$)", Matcher.quoteReplacement(home.toString())));
  }
}
