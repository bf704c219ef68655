package dev.gpush.launch.check;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.launch.node.PythonFacts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Whether the nodes are alike in what the plan of the network does not look at: interpreters and
 * their packages, nodes that do not answer.
 */
final class FactsRule {
  private FactsRule() {}

  /**
   * What is wrong.
   *
   * @param pythons in the order of the nodes
   * @param silent nodes without facts, by why
   */
  static List<FabricFinding> findings(List<NodePython> pythons, Map<String, List<Integer>> silent) {
    var findings = new ArrayList<FabricFinding>();
    silent.forEach((why, nodes) -> findings.add(silent(why, NodeSet.of(nodes))));
    missing(pythons).ifPresent(findings::add);
    findings.addAll(different(pythons));
    return findings;
  }

  private static FabricFinding silent(String why, NodeSet nodes) {
    return new FabricFinding(
        Severity.WARNING,
        "silent",
        nodes,
        nodes.words() + ": " + why,
        "nothing is set for NCCL on any node, and what is wrong there is not seen",
        "gpush down, then gpush up");
  }

  /** Where no node has one, the user may need none. */
  private static Optional<FabricFinding> missing(List<NodePython> pythons) {
    var without = new ArrayList<Integer>();
    var why = new ArrayList<String>();
    boolean isFound = false;
    for (int node = 0; node < pythons.size(); node++) {
      switch (pythons.get(node)) {
        case NodePython.Known _ -> isFound = true;
        case NodePython.Missing(var reason) -> {
          without.add(node);
          why.add(reason);
        }
        case NodePython.Unknown _ -> {}
      }
    }
    if (without.isEmpty()) {
      return Optional.empty();
    }
    NodeSet nodes = NodeSet.of(without);
    return Optional.of(
        new FabricFinding(
            isFound ? Severity.REFUSED : Severity.NOTE,
            "no-python",
            nodes,
            nodes.words() + ": no Python for runs: " + why.getFirst(),
            isFound ? "no run starts ranks there" : "no run can start ranks",
            "python: in gpush.yaml, or --python, names one that all nodes have"));
  }

  /** What a launch would refuse, compared with the first node that has a Python. */
  private static List<FabricFinding> different(List<NodePython> pythons) {
    Optional<PythonFacts> first = Optional.empty();
    int firstNode = 0;
    var others = new LinkedHashMap<String, List<Integer>>();
    for (int node = 0; node < pythons.size(); node++) {
      if (!(pythons.get(node) instanceof NodePython.Known(var facts))) {
        continue;
      }
      if (first.isEmpty()) {
        first = Optional.of(facts);
        firstNode = node;
        continue;
      }
      List<String> differences = first.get().differences(facts);
      if (!differences.isEmpty()) {
        others.computeIfAbsent(String.join("; ", differences), _ -> new ArrayList<>()).add(node);
      }
    }
    int base = firstNode;
    var findings = new ArrayList<FabricFinding>();
    others.forEach(
        (what, nodes) -> {
          NodeSet those = NodeSet.of(nodes);
          findings.add(
              new FabricFinding(
                  Severity.REFUSED,
                  "different-python",
                  those,
                  those.words() + ": the Python " + what + ", unlike node " + base,
                  "no run starts ranks on different packages",
                  "install the same packages on all nodes, or name another one with --python"));
        });
    return findings;
  }
}
