package dev.gpush.shell.command.reach;

import dev.gpush.shell.command.call.Call;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Programs of the user's own machine. */
public final class Programs {
  private static final Pattern NAME = Pattern.compile("[\\w.+-]+");

  private Programs() {}

  /** On the user's PATH. */
  public static Optional<Path> find(Map<String, String> environment, String name) {
    return Stream.of(environment.getOrDefault("PATH", "").split(":", -1))
        .filter(folder -> folder.startsWith("/") && NAME.matcher(name).matches())
        .map(folder -> Path.of(folder, name))
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst();
  }

  /**
   * Opens links with the desktop's programs, where there is a screen for them. A Linux without one
   * may have them, too, and its {@code open} is the same as {@code xdg-open}.
   */
  public static Optional<Path> opener(Call call) {
    boolean hasScreen =
        call.environment().containsKey("DISPLAY")
            || call.environment().containsKey("WAYLAND_DISPLAY");
    Optional<Path> linux = find(call.environment(), "xdg-open");
    return linux.isPresent() ? linux.filter(_ -> hasScreen) : find(call.environment(), "open");
  }
}
