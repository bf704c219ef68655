package dev.gpush.sync.git;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where git's settings of this user and machine are.
 *
 * @param home also the folder that is never sent without asking
 * @param configs files that exist or not, the strongest last
 * @param defaultIgnore what {@code core.excludesFile} is when it is not set
 */
public record GitPlaces(Path home, List<Path> configs, Path defaultIgnore) {
  public GitPlaces {
    configs = List.copyOf(configs);
  }

  /** As git finds them, from the environment of the user. */
  public static GitPlaces of(Map<String, String> environment) {
    Path home = Path.of(environment.getOrDefault("HOME", "/"));
    Path own = text(environment, "XDG_CONFIG_HOME").map(Path::of).orElse(home.resolve(".config"));
    Stream<Path> system =
        environment.containsKey("GIT_CONFIG_NOSYSTEM")
            ? Stream.of()
            : Stream.of(Path.of(text(environment, "GIT_CONFIG_SYSTEM").orElse("/etc/gitconfig")));
    Stream<Path> global =
        text(environment, "GIT_CONFIG_GLOBAL")
            .map(file -> Stream.of(Path.of(file)))
            .orElse(Stream.of(own.resolve("git/config"), home.resolve(".gitconfig")));
    return new GitPlaces(home, Stream.concat(system, global).toList(), own.resolve("git/ignore"));
  }

  private static Optional<String> text(Map<String, String> environment, String name) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
  }
}
