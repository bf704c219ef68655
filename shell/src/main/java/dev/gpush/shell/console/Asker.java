package dev.gpush.shell.console;

import java.util.Optional;

/** Asks the user of a command, and knows whether the user cancelled it. */
public interface Asker {
  /**
   * The line that was typed after the question; empty: there is no terminal, or the input ended.
   */
  Optional<String> ask(String question) throws InterruptedException;

  /** Whether Ctrl-C was pressed; closing a terminal does not count. */
  default boolean isCancelled() {
    return false;
  }
}
