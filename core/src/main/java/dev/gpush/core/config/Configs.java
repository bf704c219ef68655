package dev.gpush.core.config;

import java.nio.file.Path;
import java.util.List;

/**
 * Reads the configuration files; all problems of all files are thrown together as {@code
 * ConfigFailure.Invalid}.
 */
public interface Configs {
  Config load(Path folder);

  /**
   * Reads a task file of SkyPilot.
   *
   * @param file as the user named it
   * @param path where it is
   * @throws dev.gpush.core.failure.GpushException with {@code BadCommands}: every line that cannot
   *     be
   */
  TaskFile task(String file, Path path);

  /** Names of the session templates that exist, each with its first comment line. */
  List<Template> templates(Path folder);

  /** A template: {@code text} is its YAML, commented like documentation. */
  record Template(String name, String summary, String text, String origin) {}
}
