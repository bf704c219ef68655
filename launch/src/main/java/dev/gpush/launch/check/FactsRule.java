package dev.gpush.launch.check;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.launch.fabric.gang.FabricGang;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.node.PythonFacts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Whether the nodes are alike in what the plan of the network does not look at: interpreters and
 * their packages, locked memory, nodes that do not answer.
 */
final class FactsRule {
  private static final String LOST = "lost";

  private FactsRule() {}

  /**
   * What is wrong.
   *
   * @param pythons in the order of the nodes
   * @param silent nodes without facts, by why
   */
  static List<FabricFinding> findings(
      FabricGang gang, List<NodePython> pythons, Map<String, List<Integer>> silent) {
    var findings = new ArrayList<FabricFinding>();
    silent.forEach((why, nodes) -> findings.add(silent(why, NodeSet.of(nodes))));
    missing(pythons).ifPresent(findings::add);
    findings.addAll(different(pythons));
    memlock(gang).ifPresent(findings::add);
    return findings;
  }

  private static FabricFinding silent(String why, NodeSet nodes) {
    boolean isLost = why.equals(LOST);
    return new FabricFinding(
        isLost ? Severity.REFUSED : Severity.WARNING,
        isLost ? "lost" : "silent",
        nodes,
        nodes.words() + ": " + (isLost ? "gone" : why),
        isLost
            ? "no run of the whole gang can start"
            : "nothing is set for NCCL on any node, and what is wrong there is not seen",
        isLost ? "gpush up --replace" : "gpush down, then gpush up");
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

  /** RDMA needs locked memory; without it a difference costs nothing. */
  private static Optional<FabricFinding> memlock(FabricGang gang) {
    var limits = new TreeMap<Long, NodeSet>();
    gang.by(node -> node.facts().rdma().memlock().orElse(Long.MIN_VALUE)).forEach(limits::put);
    limits.remove(Long.MIN_VALUE);
    if (limits.size() < 2) {
      return Optional.empty();
    }
    boolean hasRdma = gang.nodes().stream().anyMatch(FactsRule::hasRdma);
    var parts = new ArrayList<String>();
    limits.forEach((bytes, nodes) -> parts.add(memory(bytes) + " on " + nodes.words()));
    return Optional.of(
        new FabricFinding(
            hasRdma ? Severity.WARNING : Severity.NOTE,
            "different-memlock",
            hasRdma ? gang.all() : NodeSet.of(List.of()),
            "the memory that may be locked differs: " + String.join(", ", parts),
            hasRdma ? "RDMA fails first where it is least" : "nothing here uses it",
            hasRdma ? "set the same limit on all nodes" : ""));
  }

  private static boolean hasRdma(NodeFabric node) {
    return !node.facts().rdma().ports().orElse(List.of()).isEmpty();
  }

  private static String memory(long bytes) {
    if (bytes < 0) {
      return "unlimited";
    }
    return bytes >= 1 << 30
        ? (bytes >> 30) + " GiB"
        : bytes >= 1 << 20 ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
  }
}
