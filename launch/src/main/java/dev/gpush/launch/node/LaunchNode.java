package dev.gpush.launch.node;

import dev.gpush.core.gang.NodeInfo;
import java.util.function.Supplier;

/**
 * A node of the session and how to call it.
 *
 * @param now the node as it is; another machine may have replaced it since the session was made
 */
public record LaunchNode(Supplier<NodeInfo> now, NodeCalls calls) {
  public NodeInfo info() {
    return now.get();
  }
}
