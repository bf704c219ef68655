package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Setting;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A home, a site file and a project below one temporary folder. */
record Folders(Path home, Path site, Path project) {
  static Folders in(Path folder) {
    return new Folders(
        folder.resolve("home"), folder.resolve("etc/site.yaml"), folder.resolve("project"));
  }

  Folders with(String file, String text) {
    return with(file, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Where a file of this name belongs. */
  Folders with(String file, byte[] bytes) {
    Path path =
        switch (file) {
          case "site.yaml" -> site;
          case "config.yaml" -> home.resolve(file);
          case String name when name.startsWith("gpush.") -> project.resolve(name);
          default -> home.resolve("templates").resolve(file);
        };
    try {
      Files.createDirectories(project);
      Files.createDirectories(path.getParent());
      Files.write(path, bytes);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return this;
  }

  YamlConfigs configs() {
    return new YamlConfigs(home, site, "ann");
  }

  Config load() {
    return configs().load(project);
  }

  /** One line per setting: {@code nodes=2 gpush.yaml:1}. */
  String setting(String key) {
    Setting found =
        load().settings().stream()
            .filter(setting -> setting.key().equals(key))
            .findFirst()
            .orElseThrow();
    return found.value().write() + " " + found.origin();
  }

  /** The problems as people see them, without the place where the shell puts its words. */
  List<String> problems() {
    GpushException thrown = assertThrows(GpushException.class, this::load);
    return assertInstanceOf(ConfigFailure.Invalid.class, thrown.failure()).problems().stream()
        .map(Folders::line)
        .toList();
  }

  private static String line(ConfigFailure.Problem problem) {
    String key = problem.key().isEmpty() ? "" : problem.key() + ": ";
    String meant = problem.suggestion().map(word -> ", did you mean " + word + "?").orElse("");
    String at = problem.file() + ":" + problem.line() + ":" + problem.column();
    return at + " " + key + problem.what() + meant;
  }
}
