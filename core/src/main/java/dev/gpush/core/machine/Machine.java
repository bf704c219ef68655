package dev.gpush.core.machine;

import java.io.IOException;
import java.util.List;

/**
 * A machine on which commands can be run: this one, one behind ssh, one behind a hub. May be called
 * from any thread.
 */
public interface Machine {
  /** As the user names it, for sentences. */
  String name();

  /**
   * Starts a command with exactly these arguments, whatever shells lie between, in the environment
   * that the machine gives the user's commands.
   *
   * @throws dev.gpush.core.failure.GpushException when the way there is closed and a user could
   *     open it
   */
  Pipe spawn(List<String> arguments) throws IOException;
}
