package dev.gpush.core.backend;

import dev.gpush.core.json.Json;
import java.util.List;

/**
 * A granted gang; {@code detail} is the backend's own name for it ("slurm job 4711"), possibly
 * empty.
 */
public record Gang(GangId id, String backend, List<NodeInfo> nodes, String detail) {
  public Gang {
    nodes = List.copyOf(nodes);
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
        nodes.stream().map(NodeInfo::json).toList());
  }

  public static Gang from(Json json) {
    return new Gang(
        new GangId(json.text("gang").orElse("")),
        json.text("backend").orElse(""),
        json.items("nodes").stream().map(NodeInfo::from).toList(),
        json.text("detail").orElse(""));
  }
}
