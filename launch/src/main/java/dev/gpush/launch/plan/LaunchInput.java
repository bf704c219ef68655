package dev.gpush.launch.plan;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * What the gateway adds to the request of a launch.
 *
 * @param generation the one that all nodes hold now
 * @param python the {@code python} of gpush.yaml
 * @param environment goes over the environment of every shell of the nodes: variables of the client
 *     (a local session) and of the configuration
 * @param ignored the pattern that excludes a file from being sent, if there is one; paths are
 *     relative to the workspace's root
 * @param warning the signal that ranks get before the nodes end
 */
public record LaunchInput(
    long generation,
    Optional<String> python,
    Map<String, String> environment,
    Function<Path, Optional<String>> ignored,
    Optional<RunWarning> warning) {
  public LaunchInput {
    environment = Map.copyOf(environment);
  }
}
