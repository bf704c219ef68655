package dev.gpush.launch.plan;

import dev.gpush.core.fabric.FabricPlans.UserVariable;
import java.nio.file.Path;
import java.util.List;
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
 * @param origins where variables of it come from: {@code gpush.yaml:7}; others are of the client
 * @param ignored the pattern that excludes a file from being sent, if there is one; paths are
 *     relative to the workspace's root
 * @param ending how the ranks are ended
 */
public record LaunchInput(
    long generation,
    Optional<String> python,
    Map<String, String> environment,
    Map<String, String> origins,
    Function<Path, Optional<String>> ignored,
    RunEnding ending) {
  /** The origin of what a session on this machine takes from the client. */
  private static final String CLIENT = "your shell";

  public LaunchInput {
    environment = Map.copyOf(environment);
    origins = Map.copyOf(origins);
  }

  /** The variables with their origins, as plans name them. */
  public List<UserVariable> variables() {
    return environment.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(
            each ->
                new UserVariable(
                    each.getKey(), each.getValue(), origins.getOrDefault(each.getKey(), CLIENT)))
        .toList();
  }
}
