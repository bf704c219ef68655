package dev.gpush.core.talk;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The user at a terminal, who can answer what a machine asks. */
public interface Person {
  /** Shows one line. */
  void say(String line);

  /**
   * Asks and waits for the line; empty when there is no terminal.
   *
   * @param hidden what is typed is not shown
   */
  Optional<String> ask(String question, boolean hidden) throws InterruptedException;

  /**
   * Runs a program on the user's terminal and in the user's environment, and gives its exit status;
   * 127 when it could not be started.
   */
  int run(List<String> command, Map<String, String> environment) throws InterruptedException;
}
