package dev.gpush.testkit.fake;

import dev.gpush.core.machine.ProcessPipe;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Starts processes of this machine, as a backend's spawn does. */
public final class ChildPipe {
  private ChildPipe() {}

  /** In a home without startup files. */
  public static ProcessPipe start(List<String> command) throws IOException {
    var builder = new ProcessBuilder(command);
    builder.environment().put("HOME", System.getProperty("java.io.tmpdir"));
    return new ProcessPipe(builder.start());
  }

  /** With exactly this environment; the program is found on the PATH of this process. */
  public static ProcessPipe start(List<String> command, Map<String, String> environment)
      throws IOException {
    var builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.environment().putAll(environment);
    return new ProcessPipe(builder.start());
  }
}
