package dev.gpush.core.run;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code run} asks of a session.
 *
 * @param words the script and everything after it, untouched; empty: repeat the last run
 * @param folder where the client stands; the run starts at the same place of the workspace
 * @param gpus slots per node, empty: all
 * @param on slots by name: {@code 0:4-7}, {@code 0-1}; empty: any free
 * @param environment the client's variables
 */
public record RunRequest(
    List<String> words,
    Path folder,
    Optional<Integer> nodes,
    Optional<Integer> gpus,
    Optional<String> on,
    Optional<String> python,
    Map<String, String> environment,
    boolean overwrite,
    boolean queue) {
  public RunRequest {
    words = List.copyOf(words);
    environment = Map.copyOf(environment);
  }
}
