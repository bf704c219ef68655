package dev.gpush.core.run;

/**
 * One thing that differed between two runs.
 *
 * @param what {@code code}, {@code command}, {@code python}, {@code NCCL_IB_HCA}
 * @param first of the run that was named first; empty: it had none
 * @param second of the other
 */
public record RunDifference(Kind kind, String what, String first, String second) {
  /** What it is part of, in the order in which people look. */
  public enum Kind {
    /** The files, by their generation. */
    CODE("code"),
    /** The words, the place and the nodes. */
    COMMAND("command"),
    /** The interpreter. */
    PYTHON("python"),
    /** Variables that gpush set. */
    ENVIRONMENT("environment"),
    /** The plan of the network. */
    PLAN("plan");

    private final String word;

    Kind(String word) {
      this.word = word;
    }

    /** As JSON has it. */
    public String word() {
      return word;
    }
  }
}
