package dev.gpush.launch.node;

import dev.gpush.core.gang.NodeInfo;
import java.util.function.Supplier;

/**
 * A node of the session and the way to it.
 *
 * @param now what it is; another machine may have come for it since the session was made
 */
public record LaunchNode(Supplier<NodeInfo> now, NodeCalls calls) {
  public NodeInfo info() {
    return now.get();
  }
}
