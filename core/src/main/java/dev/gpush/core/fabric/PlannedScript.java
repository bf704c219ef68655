package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;

/**
 * A script of the provider that each rank's shell reads ({@code source PATH}) before it starts.
 * What it sets wins over variables of {@link Authority#DISCOVERY}; the plan's variables of users,
 * sites and recipes are exported again after it.
 *
 * @param path on the node
 */
public record PlannedScript(String path, NodeSet nodes, String reason, String source) {
  Json.Obj json() {
    return Json.object("path", path, "nodes", nodes.json(), "why", reason, "from", source);
  }

  static PlannedScript read(Json json) {
    return new PlannedScript(
        json.text("path").orElse(""),
        NodeSet.read(json.get("nodes").orElse(Json.object())),
        json.text("why").orElse(""),
        json.text("from").orElse(""));
  }
}
