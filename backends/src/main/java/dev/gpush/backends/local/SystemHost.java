package dev.gpush.backends.local;

import dev.gpush.core.backend.Pipe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The machine that this process runs on. */
public record SystemHost(String name, int cpus, boolean isLinux, Path home, Map<String, String> environment) implements LocalHost {
  public SystemHost {
    environment = Map.copyOf(environment);
  }

  @Override
  public Pipe spawn(List<String> arguments, Map<String, String> variables) throws IOException {
    var builder = new ProcessBuilder(arguments);
    builder.environment().clear();
    builder.environment().putAll(variables);
    return new ProcessPipe(builder.start());
  }
}
