package dev.gpush.core.gang;

import dev.gpush.core.json.Json;
import java.util.List;

/**
 * A granted gang.
 *
 * @param detail the backend's own name for it ("slurm job 4711"), possibly empty
 * @param isBorrowed its nodes belong to someone else: they exist before and after it, and gpush
 *     owns only the agents on them
 */
public record Gang(
    GangId id, String backend, List<NodeInfo> nodes, String detail, boolean isBorrowed) {
  public Gang {
    nodes = List.copyOf(nodes);
  }

  /** Of nodes that exist for it. */
  public Gang(GangId id, String backend, List<NodeInfo> nodes, String detail) {
    this(id, backend, nodes, detail, false);
  }

  /** The same gang, with one node replaced by another machine. */
  public Gang with(NodeInfo node) {
    List<NodeInfo> all =
        nodes.stream().map(each -> each.index() == node.index() ? node : each).toList();
    return new Gang(id, backend, all, detail, isBorrowed);
  }

  public Json.Obj json() {
    return Json.object(
        "gang",
        id.text(),
        "backend",
        backend,
        "detail",
        detail,
        "nodes",
        nodes.stream().map(NodeInfo::json).toList(),
        "borrowed",
        isBorrowed);
  }

  public static Gang from(Json json) {
    return new Gang(
        new GangId(json.text("gang").orElse("")),
        json.text("backend").orElse(""),
        json.items("nodes").stream().map(NodeInfo::from).toList(),
        json.text("detail").orElse(""),
        json.flag("borrowed"));
  }
}
