package dev.gpush.core.talk;

import java.nio.file.Path;

/**
 * How ssh clients find the sessions: gpush's own config file, and one Include line in the user's.
 */
public interface SshAccess {
  /** {@code $GPUSH_HOME/ssh_config}, kept up to date as sessions come and go. */
  Path configFile();

  /** What the file holds now. */
  String configText();

  /** Whether the user's own ssh config includes ours. */
  boolean isLinked();

  /**
   * Adds the Include at the top of the user's file; asks first ({@code --yes}); says what it did.
   */
  void link(Talk talk);

  /** Removes the Include line, that of Windows too, and nothing else. */
  void unlink(Talk talk);

  /** Whether gpush runs inside WSL, below which there is a Windows with an ssh of its own. */
  default boolean hasWindows() {
    return false;
  }

  /** As {@link #link}, for the ssh of Windows, which gets a copy of the key. */
  default void linkWindows(Talk talk) {
    throw new IllegalStateException("there is no Windows");
  }

  /** Takes away all that {@link #linkWindows} has made. */
  default void unlinkWindows(Talk talk) {
    throw new IllegalStateException("there is no Windows");
  }
}
