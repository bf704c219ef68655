package dev.gpush.shell.console;

import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import dev.gpush.shell.text.RunFailureText;

/** Writes a run's output for the user; closed when there is no more of it. */
public interface RunPrinter extends RunOutput, AutoCloseable {
  @Override
  default void restarting(int node, RunFailure failure, int restart, int most) {
    event(
        node,
        new RunFailureText(failure).line()
            + "; all ranks start again (restart "
            + restart
            + " of "
            + most
            + ")");
  }

  /** Returns when everything is written, or cannot be. */
  @Override
  void close();
}
