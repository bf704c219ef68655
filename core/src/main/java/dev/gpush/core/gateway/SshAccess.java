package dev.gpush.core.gateway;

import dev.gpush.core.talk.Talk;
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

  /** Removes the Include line, and nothing else. */
  void unlink(Talk talk);
}
