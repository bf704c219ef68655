package dev.gpush.shell.console;

import dev.gpush.core.run.RunOutput;

/** Writes a run's output for the user; closed when there is no more of it. */
public interface RunPrinter extends RunOutput, AutoCloseable {
  /** Returns when everything is written, or cannot be. */
  @Override
  void close();
}
