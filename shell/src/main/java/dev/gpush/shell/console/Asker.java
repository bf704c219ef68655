package dev.gpush.shell.console;

import java.util.Optional;

/** The user at the other end of a command, as far as it is about asking and being told to stop. */
public interface Asker {
  /** The line that was typed after the question; empty: there is nobody, or the input ended. */
  Optional<String> ask(String question) throws InterruptedException;

  /** Whether Ctrl-C was pressed; a terminal that was closed says nothing. */
  default boolean isCancelled() {
    return false;
  }
}
