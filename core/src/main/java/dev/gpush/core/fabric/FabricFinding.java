package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;

/**
 * Something about the gang's network that the user should know.
 *
 * @param kind one word for programs, stable: {@code port-down}
 * @param what names the nodes and the thing: {@code node 5: mlx5_3 is DOWN, 7 of 8 rails}
 * @param cost what it does to the run
 * @param remedy what to try; empty where there is nothing to try
 */
public record FabricFinding(
    Severity severity, String kind, NodeSet nodes, String what, String cost, String remedy) {

  /** Whether a run can be launched in spite of it. */
  public enum Severity implements Worded {
    /** No run starts on this gang. */
    REFUSED,
    /** The run starts, slower or at a risk. */
    WARNING,
    /** Something could not be known; NCCL is left alone. */
    NOTE
  }

  public boolean isRefusal() {
    return severity.equals(Severity.REFUSED);
  }

  /** In one line: what, the cost, what to try. */
  public String sentence() {
    return what
        + (cost.isEmpty() ? "" : "; " + cost)
        + (remedy.isEmpty() ? "" : "; try: " + remedy);
  }

  /** As plans and reports have it. */
  public Json.Obj json() {
    return Json.object(
        "severity", severity.word(),
        "kind", kind,
        "nodes", nodes.json(),
        "what", what,
        "cost", cost,
        "try", remedy);
  }

  static FabricFinding read(Json json) {
    return new FabricFinding(
        Worded.of(Severity.class, json.text("severity").orElse("")).orElse(Severity.NOTE),
        json.text("kind").orElse(""),
        NodeSet.read(json.get("nodes").orElse(Json.object())),
        json.text("what").orElse(""),
        json.text("cost").orElse(""),
        json.text("try").orElse(""));
  }
}
