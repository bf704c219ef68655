package dev.gpush.core.setup;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What {@code gpush init} was asked.
 *
 * @param home the user's home folder, with {@code .kube} and {@code .sky}
 * @param folder where it was typed
 * @param environment of the user's terminal
 * @param names hosts and contexts that the user named; empty: whatever there is, and then nothing
 *     is tried that could need the user
 */
public record SetupQuestion(
    Path home, Path folder, Map<String, String> environment, List<String> names) {
  public SetupQuestion {
    environment = Map.copyOf(environment);
    names = List.copyOf(names);
  }

  /** Whether the user named places, and so knows that these are tried. */
  public boolean isNamed() {
    return !names.isEmpty();
  }

  /** The path with the home folder as a tilde. */
  public String shown(Path path) {
    return path.startsWith(home) ? "~/" + home.relativize(path) : path.toString();
  }
}
