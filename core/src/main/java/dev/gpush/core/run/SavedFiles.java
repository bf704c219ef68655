package dev.gpush.core.run;

import java.util.List;

/**
 * Files that changed and are on all nodes now.
 *
 * @param generation that the nodes have
 * @param paths what changed, sorted; empty when another command brought it there before
 */
public record SavedFiles(long generation, List<String> paths) {
  public SavedFiles {
    paths = List.copyOf(paths);
  }
}
