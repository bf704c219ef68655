package dev.gpush.shell.console;

import dev.gpush.core.run.LineBlock;
import dev.gpush.core.run.RunFailure;
import dev.gpush.shell.text.RunFailureText;

/** How the lines of a run are written. Called on one thread at a time. */
public interface LineFormat {
  /** Takes what is written of a line: a prefix and a text without its line feed. */
  interface Sink {
    void write(boolean toError, byte[] prefix, byte[] text);

    /** Takes several lines, each of which is written after the prefix. */
    void writeAll(boolean toError, byte[] prefix, LineBlock lines);
  }

  /** Writes a line of a rank; -1 is the launcher. */
  void line(int node, int rank, boolean isError, byte[] text, Sink sink);

  /** Writes several lines of a rank. */
  default void lines(int node, int rank, boolean isError, LineBlock lines, Sink sink) {
    lines.forEach(text -> line(node, rank, isError, text, sink));
  }

  /** Whether a person reads it, so that what ranks say alike may be said once. */
  default boolean isForPeople() {
    return true;
  }

  /** Writes that all ranks start again after a failure. */
  default void restarting(int node, RunFailure failure, int restart, int most, Sink sink) {
    event(
        node,
        new RunFailureText(failure).line()
            + "; all ranks start again (restart "
            + restart
            + " of "
            + most
            + ")",
        sink);
  }

  /** Writes something that happened to the run. */
  void event(int node, String text, Sink sink);
}
