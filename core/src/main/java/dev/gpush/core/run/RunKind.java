package dev.gpush.core.run;

import dev.gpush.core.text.Worded;

/** What a run is to the node that it claims. */
public enum RunKind implements Worded {
  /** Keeps its nodes until it ends. */
  PROGRAM,
  /** Waits for its user most of the time, so only what it computes keeps its node. */
  NOTEBOOK
}
