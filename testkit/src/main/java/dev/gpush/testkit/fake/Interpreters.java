package dev.gpush.testkit.fake;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The Python with which tests run agents. The system's own Python if it is there, as on local
 * nodes: a version manager's {@code python3} is a script that takes longer than the agent needs to
 * start.
 */
public final class Interpreters {
  private static final String OF_THE_SYSTEM = "/usr/bin/python3";

  private Interpreters() {}

  /**
   * One alone is not tried before it is used, which would start each agent with two processes more.
   */
  public static List<String> one() {
    return List.of(first());
  }

  public static String first() {
    return Files.isExecutable(Path.of(OF_THE_SYSTEM)) ? OF_THE_SYSTEM : "python3";
  }
}
