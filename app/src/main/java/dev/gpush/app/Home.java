package dev.gpush.app;

import dev.gpush.control.place.RunFolder;
import java.nio.file.Path;
import java.util.Map;

/**
 * The folder with everything that outlives the gateway: {@code $GPUSH_HOME}, by default {@code
 * ~/.gpush}.
 */
public record Home(Path path) {
  public Home {
    if (!path.isAbsolute()) {
      throw new IllegalArgumentException("a home is an absolute path, not " + path);
    }
  }

  /** The home that the environment names. */
  public static Home of(Map<String, String> environment, Path userHome) {
    String named = environment.getOrDefault("GPUSH_HOME", "");
    return new Home(
        RunFolder.realHome(named.isEmpty() ? userHome.resolve(".gpush") : Path.of(named)));
  }

  public Path logs() {
    return path.resolve("logs");
  }

  /** Where this process's log is written, by itself and by the JVM. */
  public Path log() {
    return logs().resolve("gateway.log");
  }
}
