package dev.gpush.core.run;

/**
 * Receives the merged output of a run, on one thread at a time; may block, which slows nothing but
 * this follower.
 */
public interface RunOutput {
  /**
   * A complete line, or the unfinished rest of one at the end, without its line feed. Rank -1 is
   * the launcher.
   */
  void line(int node, int rank, boolean error, byte[] text);

  /** Several complete lines; the same as a {@link #line} for each, and faster where much comes. */
  default void lines(int node, int rank, boolean error, LineBlock lines) {
    lines.forEach(text -> line(node, rank, error, text));
  }

  /** Whether a person reads it, so that what ranks say alike may be said once. */
  default boolean isForPeople() {
    return true;
  }

  /**
   * Whether it is shown on a terminal as it comes. Then lines are given as a terminal would show
   * them: what follows a carriage return replaces what was before.
   */
  default boolean isScreen() {
    return false;
  }

  /**
   * A rank rewrites a line, as progress bars do; its text so far. The finished line comes as a
   * {@link #line}, after a last call of this. Only for a screen.
   */
  default void rewriting(int node, int rank, boolean error, byte[] text) {}

  /**
   * All ranks start again after a failure.
   *
   * @param restart how often by now
   * @param most how often at most
   */
  void restarting(int node, RunFailure failure, int restart, int most);

  /** Something happened: the run is stopping, output was dropped. */
  void event(int node, String text);
}
