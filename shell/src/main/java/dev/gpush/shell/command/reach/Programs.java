package dev.gpush.shell.command.reach;

import dev.gpush.shell.command.call.Call;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs of the user's own machine. */
public final class Programs {
  private Programs() {}

  /** On the user's PATH. */
  static Optional<Path> find(Call call, String name) {
    return Stream.of(call.environment().getOrDefault("PATH", "").split(":", -1))
        .filter(folder -> folder.startsWith("/"))
        .map(folder -> Path.of(folder, name))
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst();
  }

  /** Opens links with the desktop's programs. */
  static Optional<Path> opener(Call call) {
    return find(call, "open").or(() -> find(call, "xdg-open"));
  }

  /** As {@link #opener}, where there is a screen to show a page on. */
  public static Optional<Path> browser(Call call) {
    boolean hasScreen =
        call.environment().containsKey("DISPLAY")
            || call.environment().containsKey("WAYLAND_DISPLAY");
    return find(call, "open").or(() -> find(call, "xdg-open").filter(_ -> hasScreen));
  }
}
