package dev.gpush.launch.node;

import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.session.SessionName;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where runs happen: everything that does not change during a session.
 *
 * @param id the session's own id; a name may be used again, an id never
 * @param root the workspace's root on the client's machine
 * @param onThisMachine the nodes are this machine, so that paths mean the same here and there
 * @param nodes in the order of their indexes
 * @param history folder for one JSON file per run; made when first needed
 * @param outputs the configured {@code outputs}, a folder on the nodes; empty: beside the workspace
 */
public record LaunchSite(
    SessionName name,
    String id,
    Path root,
    boolean onThisMachine,
    List<LaunchNode> nodes,
    Path history,
    Optional<NodeFolder> outputs) {
  public LaunchSite {
    nodes = List.copyOf(nodes);
    if (nodes.isEmpty()) {
      throw new IllegalArgumentException("a session without nodes");
    }
  }

  /** The nodes as they are now. */
  public List<NodeInfo> infos() {
    return nodes.stream().map(LaunchNode::info).toList();
  }

  /** The client's folder; the root where that is outside of the workspace. */
  public Path inside(Path folder) {
    return folder.startsWith(root) ? folder : root;
  }
}
