package dev.gpush.backends.transport.openssh;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Starts programs of this machine, found on the PATH of the given environment. */
@FunctionalInterface
public interface Launch {
  /**
   * Starts one.
   *
   * @throws java.nio.file.NoSuchFileException when it is not there
   */
  Pipe start(List<String> arguments, Map<String, String> environment) throws IOException;
}
