package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The result of a check.
 *
 * @param gang one line: how many nodes, which GPUs, which versions
 * @param steps in the order in which they were made
 * @param rates of the collective, by size; empty without one
 * @param expectedGbits what the network of one node can carry, where the facts tell it
 */
public record CheckReport(
    CheckLevel level,
    String gang,
    List<String> hosts,
    List<CheckStep> steps,
    List<FabricFinding> findings,
    List<BusRate> rates,
    Optional<Double> expectedGbits) {
  public CheckReport {
    hosts = List.copyOf(hosts);
    steps = List.copyOf(steps);
    findings = List.copyOf(findings);
    rates = List.copyOf(rates);
  }

  /** The judgement of one node. */
  public enum Verdict implements Worded {
    OK,
    WARNING,
    FAILED
  }

  /** A node is as good as the worst that was found of it. Notes are no judgement. */
  public Verdict verdict(int node) {
    Verdict verdict = Verdict.OK;
    for (FabricFinding finding : findings) {
      if (finding.nodes().contains(node)) {
        Verdict found =
            switch (finding.severity()) {
              case REFUSED -> Verdict.FAILED;
              case WARNING -> Verdict.WARNING;
              case NOTE -> Verdict.OK;
            };
        verdict = found.compareTo(verdict) > 0 ? found : verdict;
      }
    }
    return verdict;
  }

  /** Whether nothing was found that stops or slows a run of the whole gang. */
  public boolean isPassed() {
    return findings.stream().noneMatch(FabricFinding::isRefusal);
  }

  /**
   * The nodes to go on with, where some failed and the rest can work. A run on them is started with
   * {@code --on}.
   */
  public Optional<NodeSet> rest() {
    var good = new ArrayList<Integer>();
    for (int node = 0; node < hosts.size(); node++) {
      if (verdict(node) != Verdict.FAILED) {
        good.add(node);
      }
    }
    // A failure that names no node is one of all.
    boolean isOfNodes =
        findings.stream()
            .filter(FabricFinding::isRefusal)
            .noneMatch(each -> each.nodes().isEmpty());
    return Optional.of(NodeSet.of(good))
        .filter(_ -> isOfNodes && !good.isEmpty() && good.size() < hosts.size());
  }

  /** The form that {@code --json} prints. */
  public Json.Obj json() {
    var nodes = new ArrayList<Json>();
    for (int node = 0; node < hosts.size(); node++) {
      nodes.add(
          Json.object("node", node, "host", hosts.get(node), "verdict", verdict(node).word()));
    }
    return Json.object(
        "level", level.number(),
        "passed", isPassed(),
        "gang", gang,
        "nodes", Json.array(nodes),
        "steps", Json.array(steps.stream().map(CheckStep::json).toList()),
        "findings", Json.array(findings.stream().map(FabricFinding::json).toList()),
        "rates", Json.array(rates.stream().map(BusRate::json).toList()),
        "expected_gbits", expectedGbits,
        "rest", rest().map(NodeSet::numbers));
  }
}
