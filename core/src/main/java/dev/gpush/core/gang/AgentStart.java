package dev.gpush.core.gang;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;

/**
 * The {@code start} part of an agent's header, as docs/technical/link.md section 1 has it: the
 * fields that are the same for all backends. Each adds its own.
 */
public final class AgentStart {
  private AgentStart() {}

  /** For any node of a gang: the agent finds out by itself which node it is. It holds no locks. */
  public static Json.Obj of(GangRequest request) {
    return of(
            request.requester().holder(),
            request.gang().text(),
            request.nodes(),
            request.lease().json())
        .with("owner", request.requester().owner())
        .with("name", request.requester().session());
  }

  /** For a gang without an owner and a name. */
  public static Json.Obj of(String holder, String gang, int nodes, Json.Obj lease) {
    return Json.object(
        "owner",
        "",
        "holder",
        holder,
        "gang",
        gang,
        "nodes",
        nodes,
        "name",
        "",
        "locks",
        List.of(),
        "lease",
        lease,
        "request",
        Json.object());
  }

  /** For this node. */
  public static Json.Obj of(GangRequest request, NodeInfo node) {
    return at(of(request), node);
  }

  /**
   * The whole header for agents that a script starts while no gateway is connected.
   *
   * @param variable of the node's environment, that holds the number of the node
   */
  public static Json.Obj header(GangRequest request, String variable, Json.Obj start) {
    return Json.object(
        "mode", "start", "gang", request.gang().text(), "node_from", variable, "start", start);
  }

  /**
   * For an agent without locks, where the former one was killed: it is started only to be asked to
   * release.
   */
  public static Json.Obj again(Gang gang, NodeInfo node) {
    Json.Obj lease = new LeaseTerms(Optional.empty(), LeaseTerms.UNCLAIMED).json();
    return at(of("", gang.id().text(), gang.nodes().size(), lease), node).with("hold_only", true);
  }

  private static Json.Obj at(Json.Obj start, NodeInfo node) {
    return start
        .with("node", node.index())
        .with("workspace", node.workspace())
        .with("state", node.state());
  }
}
