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

  /** Whether a person reads it, so that what ranks say alike may be said once. */
  default boolean isForPeople() {
    return true;
  }

  /** Something happened: the run is stopping, output was dropped. */
  void event(int node, String text);
}
