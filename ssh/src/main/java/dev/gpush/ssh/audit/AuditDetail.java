package dev.gpush.ssh.audit;

import java.util.Locale;

/** How much is recorded. */
public enum AuditDetail {
  NONE,
  /** Connections and channels, without what users typed. */
  CONNECTIONS,
  /** The command lines of channels too, which may hold secrets. */
  COMMANDS;

  /** As in config.yaml, where it was checked. */
  public static AuditDetail of(String word) {
    return valueOf(word.toUpperCase(Locale.ROOT));
  }
}
