package dev.gpush.core.session;

import dev.gpush.core.text.Worded;

/** The states of a session; docs/architecture.md has the diagram. */
public enum SessionState implements Worded {
  ASKED,
  QUEUED,
  GRANTED,
  READY,
  DEGRADED,
  RELEASING,
  RELEASED,
  LEAKED;

  /** For nodes. */
  public boolean isWaiting() {
    return this == ASKED || this == QUEUED;
  }

  /** Whether runs may be in progress on its nodes. */
  public boolean hasNodes() {
    return this == READY || this == DEGRADED;
  }

  public boolean isOver() {
    return this == RELEASED;
  }
}
