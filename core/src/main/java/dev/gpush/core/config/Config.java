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
 * @param settings every known key once, dotted ({@code lease.idle}), in the order of the reference
 * @param backends all that are configured; "local" is always among them
 * @param order names of backends in the order they are asked
 */
public record Config(
    Path root,
    String rootReason,
    List<Setting> settings,
    List<BackendConfig> backends,
    List<String> order) {
  public Config {
    settings = List.copyOf(settings);
    backends = List.copyOf(backends);
    order = List.copyOf(order);
  }

  /** Whether somebody has said which backends to ask, as opposed to all that there are. */
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
