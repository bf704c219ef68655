package dev.gpush.core.run;

import dev.gpush.core.text.Worded;

/**
 * One thing that differed between two runs.
 *
 * @param what {@code code}, {@code command}, {@code python}, {@code NCCL_IB_HCA}
 * @param first of the run that was named first; empty: it had none
 * @param second of the other
 */
public record RunDifference(Kind kind, String what, String first, String second) {
  /** What it is part of, in the order in which people look. */
  public enum Kind implements Worded {
    /** The files, by their generation. */
    CODE,
    /** The words, the place and the nodes. */
    COMMAND,
    /** The interpreter. */
    PYTHON,
    /** Variables that gpush set. */
    ENVIRONMENT,
    /** The plan of the network. */
    PLAN
  }
}
