package dev.gpush.sync.scan;

import java.nio.file.Path;
import java.util.function.Predicate;

/** Is told which folders a scan looks into, so that changes in them can be watched. */
public interface FolderListener {
  /** Called before the folder is listed: what changes from now on must be reported. */
  default void entering(Path folder) {}

  /**
   * The folder was listed.
   *
   * @param isIgnored names of files in it that are not sent, whatever happens to them, until it is
   *     entered again; on any thread
   */
  default void listed(Path folder, Predicate<String> isIgnored) {}

  /** The folder is no longer looked into. */
  default void left(Path folder) {}
}
