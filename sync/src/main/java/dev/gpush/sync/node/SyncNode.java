package dev.gpush.sync.node;

import dev.gpush.core.gang.NodeInfo;
import java.io.IOException;

/** A node whose copy of the workspace is kept. The same object is the same node. */
public interface SyncNode {
  NodeInfo info();

  /** Whether its link is up: a push without a user does not wait for one that is cut. */
  default boolean isReachable() {
    return true;
  }

  /** Whether it is this machine, so that nothing is gained by compression. */
  default boolean isHere() {
    return false;
  }

  /**
   * Starts {@code files} there. The conversation is kept open between pushes as long as it works.
   */
  Duplex open() throws IOException, InterruptedException;
}
