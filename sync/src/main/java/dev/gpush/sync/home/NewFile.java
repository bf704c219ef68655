package dev.gpush.sync.home;

import dev.gpush.sync.tree.Entry;
import java.util.Optional;

/**
 * A file or link that was made on the editors' node.
 *
 * @param stamp as the node gave it
 * @param from what it was before it was renamed there; it is here as it was sent
 * @param isTracked git tracks it there
 */
public record NewFile(
    String path, long size, String stamp, Optional<Deleted> from, boolean isTracked) {
  /**
   * A path that is no more there, and is here as it was sent.
   *
   * @param sent what is here
   */
  public record Deleted(String path, Entry sent) {}
}
