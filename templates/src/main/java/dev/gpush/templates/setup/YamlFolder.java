package dev.gpush.templates.setup;

import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** YAML files of other tools. Those that cannot be read, or are no YAML, have nothing to say. */
final class YamlFolder {
  /** A folder with more of them is no project. */
  private static final int MOST_FILES = 100;

  /** Nobody writes a task this long. */
  private static final int MOST_BYTES = 256 * 1024;

  private YamlFolder() {}

  record YamlFile(String name, Yaml content) {}

  /** The files directly in a folder, by name. */
  static List<YamlFile> in(Path folder) {
    var paths = new ArrayList<Path>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "*.{yaml,yml}")) {
      for (Path path : found) {
        if (paths.size() == MOST_FILES) {
          return List.of();
        }
        paths.add(path);
      }
    } catch (IOException unreadable) {
      return List.of();
    }
    var files = new ArrayList<YamlFile>();
    for (Path path : paths.stream().sorted().toList()) {
      read(path)
          .ifPresent(
              content -> files.add(new YamlFile(String.valueOf(path.getFileName()), content)));
    }
    return files;
  }

  static Optional<Yaml> read(Path path) {
    if (!Files.isRegularFile(path)) {
      return Optional.empty();
    }
    try (InputStream input = Files.newInputStream(path)) {
      byte[] bytes = input.readNBytes(MOST_BYTES + 1);
      return bytes.length > MOST_BYTES
          ? Optional.empty()
          : YamlReader.read(bytes).content().map(content -> content);
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }
}
