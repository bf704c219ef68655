package dev.gpush.backends.hosts.local;

import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What the local backend needs of the machine. */
public interface LocalHost {
  String name();

  int cpus();

  /** Whether nodes can live here: Linux for now. */
  boolean isLinux();

  /** GPUSH_HOME. */
  Path home();

  /** The environment of the gateway process, for PATH and the user's identity. */
  Map<String, String> environment();

  /** This machine, on which commands start from these variables. */
  default Machine machine(Map<String, String> environment) {
    return new Machine() {
      @Override
      public String name() {
        return LocalHost.this.name();
      }

      @Override
      public Pipe spawn(List<String> arguments) throws IOException {
        return LocalHost.this.spawn(arguments, environment);
      }
    };
  }

  Pipe spawn(List<String> arguments, Map<String, String> environment) throws IOException;
}
