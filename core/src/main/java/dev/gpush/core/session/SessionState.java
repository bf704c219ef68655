package dev.gpush.core.session;

import java.util.Locale;

/** Where a session is in its life; docs/architecture.md has the picture. */
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

  public boolean isOver() {
    return this == RELEASED;
  }
}
