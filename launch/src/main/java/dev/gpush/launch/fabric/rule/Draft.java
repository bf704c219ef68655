package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.PlannedScript;
import dev.gpush.core.fabric.PlannedVariable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The plan while rules write it. A variable of a node is decided once: the first to decide it has
 * the higher authority, because rules are called in that order. Belongs to one thread.
 */
public final class Draft {
  /** Where variables come from that the facts decide. */
  static final String FACTS = "node facts";

  private final Map<String, Map<Integer, Decision>> decisions = new TreeMap<>();
  private final List<PlannedScript> scripts = new ArrayList<>();
  private final List<FabricFinding> findings = new ArrayList<>();

  public Draft() {}

  /** What is decided about one variable on one node. */
  record Decision(Optional<String> value, String reason, String source, Authority authority) {}

  /** Does nothing where the variable is decided already. */
  void decide(String name, int node, Decision decision) {
    decisions.computeIfAbsent(name, _ -> new TreeMap<>()).putIfAbsent(node, decision);
  }

  /** The variable stays unset on these nodes, unless it is decided already. */
  void leave(String name, NodeSet nodes, String reason) {
    for (int node : nodes.numbers()) {
      decide(name, node, new Decision(Optional.empty(), reason, "NCCL", Authority.NCCL));
    }
  }

  /** What is decided so far. */
  Optional<Decision> decided(String name, int node) {
    return Optional.ofNullable(decisions.getOrDefault(name, Map.of()).get(node));
  }

  void script(PlannedScript script) {
    scripts.add(script);
  }

  void refuse(String kind, NodeSet nodes, String what, String cost, String remedy) {
    findings.add(new FabricFinding(Severity.REFUSED, kind, nodes, what, cost, remedy));
  }

  void warn(String kind, NodeSet nodes, String what, String cost, String remedy) {
    findings.add(new FabricFinding(Severity.WARNING, kind, nodes, what, cost, remedy));
  }

  void note(String kind, NodeSet nodes, String what, String cost) {
    findings.add(new FabricFinding(Severity.NOTE, kind, nodes, what, cost, ""));
  }

  /** By name; nodes that agree share a row. */
  public List<PlannedVariable> variables() {
    var rows = new ArrayList<PlannedVariable>();
    decisions.forEach(
        (name, byNode) -> {
          Map<Decision, List<Integer>> same = new LinkedHashMap<>();
          byNode.forEach(
              (node, decision) -> same.computeIfAbsent(decision, _ -> new ArrayList<>()).add(node));
          same.forEach(
              (decision, nodes) ->
                  rows.add(
                      new PlannedVariable(
                          name,
                          decision.value(),
                          NodeSet.of(nodes),
                          decision.reason(),
                          decision.source(),
                          decision.authority())));
        });
    return rows;
  }

  public List<PlannedScript> scripts() {
    return List.copyOf(scripts);
  }

  /** The worst first. */
  public List<FabricFinding> findings() {
    return findings.stream().sorted(Comparator.comparing(FabricFinding::severity)).toList();
  }
}
