package dev.gpush.core.machine;

import java.io.IOException;
import java.util.List;

/**
 * A machine on which commands can be run: this one, one behind ssh, one behind a hub. May be called
 * from any thread.
 */
public interface Machine {
  /** Its name, as the user knows it. */
  String name();

  /**
   * Starts a command with exactly these arguments, whatever shells are in between, in the
   * environment that the machine gives the user's commands.
   *
   * @throws dev.gpush.core.failure.GpushException when the machine cannot be reached and a user
   *     could help
   */
  Pipe spawn(List<String> arguments) throws IOException;
}
