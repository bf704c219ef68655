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

  public boolean isOver() {
    return this == RELEASED;
  }
}
