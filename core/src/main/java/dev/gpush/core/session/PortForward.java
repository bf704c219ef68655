package dev.gpush.core.session;

import dev.gpush.core.json.Json;
import java.util.Optional;

/**
 * A port of this machine whose connections go to a port of a node.
 *
 * @param node its number in the gang
 * @param port on the node's own loopback
 * @param local on this machine's loopback
 * @param problem why nothing listens here now
 */
public record PortForward(int node, int port, int local, Optional<String> problem) {
  public PortForward(int node, int port, int local) {
    this(node, port, local, Optional.empty());
  }

  public Json.Obj json() {
    return Json.object("node", node, "port", port, "local", local, "problem", problem);
  }
}
