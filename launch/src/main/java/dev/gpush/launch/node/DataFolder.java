package dev.gpush.launch.node;

import dev.gpush.core.json.Json;
import java.util.Optional;

/**
 * Data that a configuration names, on any node.
 *
 * @param key of the configuration
 * @param path on the node, which replaces {@code ~}, {@code $HOME} and {@code $USER} in it
 * @param volume that must be mounted, in the words of the configuration; empty: a folder
 * @param mount where the volume is; empty without one
 * @param variable that names the folder to programs; empty: none, and it need not exist
 */
public record DataFolder(
    String key,
    String path,
    Optional<String> volume,
    Optional<String> mount,
    Optional<String> variable) {
  Json.Obj json() {
    return Json.object(
        "key", key, "path", path, "volume", volume, "mount", mount, "variable", variable);
  }
}
