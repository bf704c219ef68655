package dev.gpush.launch.check;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.NodeSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which nodes cannot reach each other, from what each says of its connections. A node that fails
 * with all others in one direction is named alone; else both ends of a pair are.
 */
final class PairRule {
  /** Of a gang of many nodes with a broken network this many sentences are enough. */
  private static final int MOST_PAIRS = 20;

  private static final String COST = "a run on these nodes waits for its ranks until a timeout";
  private static final String REMEDY =
      "let the nodes connect to each other on all TCP ports (firewall, security group,"
          + " NetworkPolicy): NCCL and torch choose ports freely";

  /** From one node to another, with a word for why it failed. */
  record Failed(int from, int to, String why) {}

  private final List<PairReply> replies;
  private final List<FabricFinding> findings = new ArrayList<>();

  private PairRule(List<PairReply> replies) {
    this.replies = replies;
  }

  /**
   * What is wrong.
   *
   * @param replies in the order of the nodes
   */
  static List<FabricFinding> findings(List<PairReply> replies) {
    var rule = new PairRule(replies);
    rule.unasked();
    rule.connections();
    return List.copyOf(rule.findings);
  }

  private void unasked() {
    for (int node = 0; node < replies.size(); node++) {
      switch (replies.get(node)) {
        case PairReply.Dialled _ -> {}
        case PairReply.Deaf(var why) ->
            findings.add(
                new FabricFinding(
                    Severity.REFUSED,
                    "no-listen",
                    NodeSet.of(node),
                    "node " + node + ": cannot listen on its own address: " + words(why),
                    COST,
                    "gpush check --plan shows the interface and who chose it"));
        case PairReply.Unasked(var why) ->
            findings.add(
                new FabricFinding(
                    Severity.WARNING,
                    "not-checked",
                    NodeSet.of(node),
                    "node " + node + ": its connections were not checked: " + why,
                    "what is wrong there is not seen",
                    "gpush down, then gpush up"));
      }
    }
  }

  private void connections() {
    var failed = new ArrayList<Failed>();
    for (int node = 0; node < replies.size(); node++) {
      if (replies.get(node) instanceof PairReply.Dialled(var failures)) {
        int from = node;
        new TreeMap<>(failures)
            .forEach(
                (to, why) -> {
                  if (replies.get(to) instanceof PairReply.Dialled) {
                    failed.add(new Failed(from, to, why));
                  }
                });
      }
    }
    while (!failed.isEmpty()) {
      Optional<Integer> alone = alone(failed);
      if (alone.isEmpty()) {
        break;
      }
      int node = alone.get();
      List<Failed> its =
          failed.stream().filter(each -> each.from() == node || each.to() == node).toList();
      findings.add(finding(NodeSet.of(node), "node " + node + ": no TCP: " + listed(its)));
      failed.removeAll(its);
    }
    failed.stream()
        .limit(MOST_PAIRS)
        .forEach(
            each ->
                findings.add(
                    finding(
                        NodeSet.of(List.of(each.from(), each.to())),
                        "no TCP from node "
                            + each.from()
                            + " to node "
                            + each.to()
                            + ": "
                            + words(each.why()))));
    if (failed.size() > MOST_PAIRS) {
      var nodes = new TreeSet<Integer>();
      failed.stream()
          .skip(MOST_PAIRS)
          .forEach(each -> nodes.addAll(List.of(each.from(), each.to())));
      findings.add(
          finding(
              NodeSet.of(nodes),
              "no TCP between " + (failed.size() - MOST_PAIRS) + " more pairs of nodes"));
    }
  }

  /**
   * The node with most failures, if all others fail with it in one direction and it is the only
   * one.
   */
  private Optional<Integer> alone(List<Failed> failed) {
    long dialled = replies.stream().filter(PairReply.Dialled.class::isInstance).count();
    Map<Integer, Long> counts = new TreeMap<>();
    for (Failed each : failed) {
      counts.merge(each.from(), 1L, Long::sum);
      counts.merge(each.to(), 1L, Long::sum);
    }
    long most = counts.values().stream().max(Comparator.naturalOrder()).orElse(0L);
    List<Integer> worst =
        counts.entrySet().stream()
            .filter(each -> each.getValue() == most)
            .map(Map.Entry::getKey)
            .toList();
    if (worst.size() != 1 || dialled < 3) {
      return Optional.empty();
    }
    int node = worst.getFirst();
    long out = failed.stream().filter(each -> each.from() == node).count();
    long in = failed.stream().filter(each -> each.to() == node).count();
    return Optional.of(node).filter(_ -> Math.max(in, out) >= dialled - 1 || most > dialled - 1);
  }

  /** {@code from nodes 0, 1: no answer in time; to node 3: connection refused}. */
  private static String listed(List<Failed> failed) {
    Map<Integer, Long> ends =
        failed.stream()
            .flatMap(each -> List.of(each.from(), each.to()).stream())
            .collect(Collectors.groupingBy(each -> each, Collectors.counting()));
    int node =
        ends.entrySet().stream().max(Map.Entry.comparingByValue()).map(Map.Entry::getKey).orElse(0);
    var parts = new LinkedHashMap<String, List<Integer>>();
    for (Failed each : failed) {
      boolean isIn = each.to() == node;
      parts
          .computeIfAbsent((isIn ? "from " : "to ") + each.why(), _ -> new ArrayList<>())
          .add(isIn ? each.from() : each.to());
    }
    return parts.entrySet().stream()
        .map(
            part -> {
              String[] key = part.getKey().split(" ", 2);
              return key[0] + " " + NodeSet.of(part.getValue()).words() + ": " + words(key[1]);
            })
        .collect(Collectors.joining("; "));
  }

  private static FabricFinding finding(NodeSet nodes, String what) {
    return new FabricFinding(Severity.REFUSED, "no-tcp", nodes, what, COST, REMEDY);
  }

  private static String words(String why) {
    return switch (why) {
      case "timeout" -> "no answer in time, packets may be dropped";
      case "ECONNREFUSED" -> "connection refused";
      case "ECONNRESET" -> "connection reset";
      case "EHOSTUNREACH" -> "no route to the host";
      case "ENETUNREACH" -> "no route to the network";
      case "EADDRNOTAVAIL" -> "no interface has this address";
      case "EADDRINUSE" -> "the port is taken";
      case "foreign" -> "another program answers at this address";
      case "name" -> "its address is not a number";
      default -> why;
    };
  }
}
