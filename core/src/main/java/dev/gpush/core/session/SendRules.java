package dev.gpush.core.session;

import java.nio.file.Path;

/** Says of a path whether it is sent to nodes, whether there is a session or not. */
@FunctionalInterface
public interface SendRules {
  /**
   * Why a path is sent, or is not.
   *
   * @param folder whose workspace is meant
   * @param path as the user wrote it, from this folder on or absolute; when it ends in a slash and
   *     is not there, it counts as a folder
   */
  SendReason explain(Path folder, String path);
}
