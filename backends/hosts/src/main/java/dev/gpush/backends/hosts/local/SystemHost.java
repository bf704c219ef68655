package dev.gpush.backends.hosts.local;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.ProcessPipe;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The machine that this process runs on. */
public record SystemHost(
    String name, int cpus, boolean isLinux, Path home, Map<String, String> environment)
    implements LocalHost {
  public SystemHost {
    environment = Map.copyOf(environment);
  }

  /** Starts in {@code /}: the folder that the gateway was started in may be gone. */
  @Override
  public Pipe spawn(List<String> arguments, Map<String, String> variables) throws IOException {
    var command = new ArrayList<>(arguments);
    command.set(0, program(arguments.getFirst(), variables.getOrDefault("PATH", "")));
    var builder = new ProcessBuilder(command).directory(new File("/"));
    builder.environment().clear();
    builder.environment().putAll(variables);
    return new ProcessPipe(builder.start());
  }

  /** On the given PATH: the JDK would look on its own process's. */
  private static String program(String name, String path) throws IOException {
    if (name.contains("/")) {
      return name;
    }
    for (String folder : path.split(":", -1)) {
      Path file = Path.of(folder.isEmpty() ? "/" : folder).resolve(name);
      if (file.isAbsolute() && Files.isExecutable(file) && !Files.isDirectory(file)) {
        return file.toString();
      }
    }
    throw new NoSuchFileException(name, null, "not on the PATH");
  }
}
