package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;
import java.util.Optional;

/**
 * One variable on some nodes.
 *
 * @param value empty: it stays unset, and NCCL chooses
 * @param reason why it has this value, or why none
 * @param source where that comes from: {@code gpush.yaml:7}, {@code /etc/nccl.conf}, {@code recipe
 *     azure-ndv5}, {@code node facts}
 */
public record PlannedVariable(
    String name,
    Optional<String> value,
    NodeSet nodes,
    String reason,
    String source,
    Authority authority) {

  /** Whether gpush exports it: what users and sites set stays as they set it. */
  public boolean isExported() {
    return value.isPresent()
        && switch (authority) {
          case RECIPE, DISCOVERY -> true;
          case USER, SITE, NCCL -> false;
        };
  }

  Json.Obj json() {
    return Json.object(
        "name", name,
        "value", value,
        "nodes", nodes.json(),
        "set", isExported(),
        "why", reason,
        "from", source,
        "authority", authority.word());
  }

  static PlannedVariable read(Json json) {
    return new PlannedVariable(
        json.text("name").orElse(""),
        json.text("value"),
        NodeSet.read(json.get("nodes").orElse(Json.object())),
        json.text("why").orElse(""),
        json.text("from").orElse(""),
        Worded.of(Authority.class, json.text("authority").orElse("")).orElse(Authority.NCCL));
  }
}
