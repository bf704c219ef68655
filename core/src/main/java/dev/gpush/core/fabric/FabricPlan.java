package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a gang's ranks get for NCCL, why, and what is wrong with the gang's network. Made from facts
 * alone, so it can be stored with a run and compared with another run's.
 *
 * @param nodes how many nodes the gang has
 * @param gang one line: how many nodes, which GPUs, which versions
 */
public record FabricPlan(
    int nodes,
    String gang,
    ExpectedNetwork expected,
    List<PlannedVariable> variables,
    List<PlannedScript> scripts,
    List<FabricFinding> findings) {
  public FabricPlan {
    variables = List.copyOf(variables);
    scripts = List.copyOf(scripts);
    findings = List.copyOf(findings);
  }

  /** What gpush exports to the ranks of this node. */
  public Map<String, String> exported(int node) {
    var exported = new LinkedHashMap<String, String>();
    for (PlannedVariable variable : variables) {
      if (variable.isExported() && variable.nodes().contains(node)) {
        variable.value().ifPresent(value -> exported.put(variable.name(), value));
      }
    }
    return exported;
  }

  /** The expected network in words. */
  public String fabric() {
    return expected.words();
  }

  public Optional<FabricRate> rate() {
    return expected.rate();
  }

  public boolean isKnown() {
    return !expected.equals(ExpectedNetwork.UNKNOWN);
  }

  /** Why no run can start; empty when one can. */
  public List<FabricFinding> refusals() {
    return findings.stream().filter(FabricFinding::isRefusal).toList();
  }

  /** The form that is stored with a run and printed by {@code --json}. */
  public Json.Obj json() {
    return Json.object(
        "nodes",
        nodes,
        "gang",
        gang,
        "fabric",
        expected.words(),
        "better",
        expected.better(),
        "rate",
        expected.rate().map(FabricRate::json),
        "variables",
        Json.array(variables.stream().map(PlannedVariable::json).toList()),
        "scripts",
        Json.array(scripts.stream().map(PlannedScript::json).toList()),
        "findings",
        Json.array(findings.stream().map(FabricFinding::json).toList()));
  }

  /** What {@link #json} wrote; of anything else what can be read. */
  public static FabricPlan read(Json json) {
    return new FabricPlan(
        json.integer("nodes").orElse(0),
        json.text("gang").orElse(""),
        new ExpectedNetwork(
            json.text("fabric").orElse(""),
            json.text("better").orElse(""),
            FabricRate.read(json.object("rate"))),
        json.items("variables").stream().map(PlannedVariable::read).toList(),
        json.items("scripts").stream().map(PlannedScript::read).toList(),
        json.items("findings").stream().map(FabricFinding::read).toList());
  }
}
