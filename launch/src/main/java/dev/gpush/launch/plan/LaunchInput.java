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
 * @param environment goes over the environment of every shell of the nodes: what the client hands
 *     down (a local session) and what the configuration says
 * @param ignored the pattern that keeps a file from being sent, if one does; paths are relative to
 *     the workspace's root
 * @param ending how the ranks are ended
 */
public record LaunchInput(
    long generation,
    Optional<String> python,
    Map<String, String> environment,
    Function<Path, Optional<String>> ignored,
    RunEnding ending) {
  public LaunchInput {
    environment = Map.copyOf(environment);
  }

  /** With the usual grace. */
  public LaunchInput(
      long generation,
      Optional<String> python,
      Map<String, String> environment,
      Function<Path, Optional<String>> ignored,
      Optional<RunWarning> warning) {
    this(
        generation,
        python,
        environment,
        ignored,
        new RunEnding(warning, RunEnding.usual().grace()));
  }
}
