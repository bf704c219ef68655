package dev.gpush.core.config;

import dev.gpush.core.json.Json;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The effective configuration of a folder.
 *
 * @param root the workspace root: nearest gpush.yaml, else git top level, else the folder
 * @param rootReason which of the three
 * @param settings every known key once, dotted ({@code lease.idle}), in the order of the reference;
 *     then the owner, and each value of each backend ({@code backends.hpc.login})
 * @param backends all that are configured; "local" is always among them
 * @param order names of backends in the order they are asked
 * @param unsupported keys that were read and have no effect yet
 */
public record Config(
    Path root,
    String rootReason,
    List<Setting> settings,
    List<BackendConfig> backends,
    List<String> order,
    List<Unsupported> unsupported) {
  public Config {
    settings = List.copyOf(settings);
    backends = List.copyOf(backends);
    order = List.copyOf(order);
    unsupported = List.copyOf(unsupported);
  }

  /**
   * A key in a file that has no effect in this version.
   *
   * @param origin the file and line, as of a setting
   * @param effect what happens instead, as the rest of a sentence
   */
  public record Unsupported(String key, String effect, String origin) {}

  /** Whether the configuration names the backends to ask; otherwise all are asked. */
  public boolean isOrdered() {
    return settings.stream()
        .anyMatch(setting -> setting.key().equals("backends") && !setting.isBuiltIn());
  }

  public Optional<Json> value(String key) {
    return settings.stream()
        .filter(setting -> setting.key().equals(key))
        .map(Setting::value)
        .findFirst();
  }

  public Optional<String> text(String key) {
    return value(key).flatMap(Json::asText);
  }

  public Optional<Long> number(String key) {
    return value(key).flatMap(value -> Json.object("v", value).number("v"));
  }
}
