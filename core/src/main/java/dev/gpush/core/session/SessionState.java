package dev.gpush.core.session;

import java.util.Locale;

/** The states of a session; docs/architecture.md has the diagram. */
public enum SessionState {
  ASKED,
  QUEUED,
  GRANTED,
  READY,
  DEGRADED,
  RELEASING,
  RELEASED,
  LEAKED;

  /** The word that people and --json see. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

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
