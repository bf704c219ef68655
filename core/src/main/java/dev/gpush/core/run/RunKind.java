package dev.gpush.core.run;

/** What a run is to the node that it claims. */
public enum RunKind {
  /** Keeps its nodes until it ends. */
  PROGRAM("program"),
  /** Waits for its user most of the time, so only what it computes keeps its node. */
  NOTEBOOK("notebook");

  private final String word;

  RunKind(String word) {
    this.word = word;
  }

  public String word() {
    return word;
  }

  /** Records that are older than kinds are of programs. */
  public static RunKind of(String word) {
    return word.equals(NOTEBOOK.word) ? NOTEBOOK : PROGRAM;
  }
}
