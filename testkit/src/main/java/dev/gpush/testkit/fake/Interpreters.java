package dev.gpush.testkit.fake;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The Python with which tests run agents. The system's own Python comes first, as on local nodes: a
 * version manager's {@code python3} is a script that takes longer than the agent needs to start.
 */
public final class Interpreters {
  private static final String OF_THE_SYSTEM = "/usr/bin/python3";

  private Interpreters() {}

  public static List<String> inOrder() {
    return List.of(OF_THE_SYSTEM, "python3", "python");
  }

  /** The first that is there. */
  public static String first() {
    return Files.isExecutable(Path.of(OF_THE_SYSTEM)) ? OF_THE_SYSTEM : "python3";
  }
}
