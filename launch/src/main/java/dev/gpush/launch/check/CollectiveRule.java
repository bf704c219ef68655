package dev.gpush.launch.check;

import dev.gpush.core.fabric.BusRate;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricRate;
import dev.gpush.core.fabric.NodeSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Judges the measurements of a collective. A ring is as slow as its slowest node, so the whole gang
 * does not tell which one it is: pairs do. A node that is slow with each of its partners is named;
 * one that is slow with a single partner is not.
 *
 * @param ranks of each node
 * @param isOneMachine all nodes share its processors, so the whole gang is slower than a pair
 */
record CollectiveRule(List<Integer> ranks, Optional<FabricRate> network, boolean isOneMachine) {
  /** Equal nodes differ by some percent. Half is a link that lost a rail, or a busy machine. */
  private static final double SLOW = 0.5;

  private static final double BITS = 8e-9;

  /** One pair proves nothing of either node. */
  private static final int FEWEST = 3;

  CollectiveRule {
    ranks = List.copyOf(ranks);
  }

  /**
   * In the order of sizes; empty where no node measured anything, and of one rank, which sends
   * nothing.
   */
  List<BusRate> rates(List<CollectiveReply> replies) {
    int all = ranks.stream().mapToInt(count -> count).sum();
    if (all < 2) {
      return List.of();
    }
    var slowest = new TreeMap<Long, Double>();
    for (CollectiveReply reply : replies) {
      if (reply instanceof CollectiveReply.Measured(var sizes, _, _)) {
        sizes.forEach((bytes, seconds) -> slowest.merge(bytes, seconds, Math::max));
      }
    }
    var rates = new ArrayList<BusRate>();
    slowest.forEach((bytes, seconds) -> rates.add(new BusRate(bytes, bus(bytes / seconds, all))));
    return rates;
  }

  /** What is wrong; {@code replies} in the order of the nodes. */
  List<FabricFinding> findings(List<CollectiveReply> replies) {
    List<FabricFinding> broken = broken(replies);
    if (!broken.isEmpty()) {
      return broken;
    }
    List<CollectiveReply.Measured> measured =
        replies.stream().map(CollectiveReply.Measured.class::cast).toList();
    List<FabricFinding> slow =
        measured.size() < FEWEST ? slowOfTwo(measured) : slowByPairs(measured);
    return slow.isEmpty() ? whole(replies, measured) : slow;
  }

  /** Ranks that only lost another one are not to blame where one has a reason of its own. */
  private static List<FabricFinding> broken(List<CollectiveReply> replies) {
    var own = new TreeMap<Integer, CollectiveReply.Broken>();
    var others = new TreeMap<Integer, CollectiveReply.Broken>();
    for (int node = 0; node < replies.size(); node++) {
      if (replies.get(node) instanceof CollectiveReply.Broken broken) {
        (broken.mayComeFromAnother() ? others : own).put(node, broken);
      }
    }
    var findings = new ArrayList<FabricFinding>();
    (own.isEmpty() ? others : own)
        .forEach(
            (node, broken) ->
                findings.add(
                    new FabricFinding(
                        Severity.REFUSED,
                        "no-collective",
                        NodeSet.of(node),
                        "node " + node + ": all_reduce failed: " + broken.why(),
                        "a run that uses torch.distributed fails in the same way",
                        "gpush check --plan shows what ranks get, and NCCL_DEBUG=INFO what NCCL"
                            + " does")));
    return findings;
  }

  private List<FabricFinding> slowByPairs(List<CollectiveReply.Measured> measured) {
    List<Double> best =
        IntStream.range(0, measured.size()).mapToObj(at -> best(measured, at)).toList();
    double usual = median(best);
    double aloneUsual = median(measured.stream().map(CollectiveReply.Measured::alone).toList());
    var findings = new ArrayList<FabricFinding>();
    for (int node = 0; node < measured.size(); node++) {
      if (best.get(node) >= SLOW * usual) {
        continue;
      }
      NodeSet partners = NodeSet.of(measured.get(node).pairs().keySet());
      String what =
          "node "
              + node
              + " is slow: "
              + gbits(best.get(node))
              + " at best with "
              + partners.words()
              + ", where nodes usually reach "
              + gbits(usual);
      findings.add(slow(node, what, measured.get(node).alone() * SLOW > aloneUsual));
    }
    return findings;
  }

  /** Of two nodes the network cannot tell which is slow; their own arithmetic may. */
  private static List<FabricFinding> slowOfTwo(List<CollectiveReply.Measured> measured) {
    if (measured.size() < 2) {
      return List.of();
    }
    double first = measured.getFirst().alone();
    double second = measured.getLast().alone();
    if (Math.min(first, second) >= SLOW * Math.max(first, second)) {
      return List.of();
    }
    int node = first > second ? 0 : 1;
    String what =
        String.format(
            Locale.ROOT,
            "node %d is slow: it computes %.0f times slower than node %d",
            node,
            Math.max(first, second) / Math.min(first, second),
            1 - node);
    return List.of(slow(node, what, true));
  }

  private static FabricFinding slow(int node, String what, boolean isSlowAlone) {
    return new FabricFinding(
        Severity.REFUSED,
        "slow-node",
        NodeSet.of(node),
        what,
        "every step of the gang waits for it",
        isSlowAlone
            ? "it computes slower than the others too: see what else runs there (gpush exec --on "
                + node
                + " top -b -n 1), and whether its GPUs or processors are throttled"
            : "it computes as fast as the others, so its network is slow: see its ports and cables"
                + " (gpush check --plan), or leave it out");
  }

  /** No node is slow, and the gang may still be. */
  private List<FabricFinding> whole(
      List<CollectiveReply> replies, List<CollectiveReply.Measured> measured) {
    List<BusRate> rates = rates(replies);
    if (isOneMachine || measured.size() < 2 || rates.isEmpty()) {
      return List.of();
    }
    double reached = rates.stream().mapToDouble(BusRate::gbits).max().orElse(0);
    double ofPairs =
        IntStream.range(0, measured.size()).mapToDouble(at -> best(measured, at)).min().orElse(0);
    if (measured.size() >= FEWEST && reached < SLOW * ofPairs) {
      return List.of(
          new FabricFinding(
              Severity.WARNING,
              "slow-gang",
              NodeSet.of(List.of()),
              "all nodes together reach " + gbits(reached) + ", pairs of them " + gbits(ofPairs),
              "large runs are slower than their nodes",
              "ask for nodes that are nearer to each other; the network between them is shared"));
    }
    Optional<FabricRate> rdma = network.filter(FabricRate::isRdma);
    return rdma.filter(rate -> reached < SLOW * rate.gbits())
        .map(
            rate ->
                List.of(
                    new FabricFinding(
                        Severity.WARNING,
                        "slow-gang",
                        NodeSet.of(List.of()),
                        "the nodes reach "
                            + gbits(reached)
                            + " of the "
                            + gbits(rate.gbits())
                            + " that their rails carry",
                        "every step takes longer than this hardware needs",
                        "NCCL_DEBUG=INFO shows which transport NCCL takes")))
        .orElse(List.of());
  }

  /** The bus bandwidth of a node with the partner with which it is fastest. */
  private double best(List<CollectiveReply.Measured> measured, int node) {
    double best = 0;
    for (Map.Entry<Integer, Double> pair : measured.get(node).pairs().entrySet()) {
      int other = pair.getKey();
      if (other < ranks.size()) {
        best = Math.max(best, bus(pair.getValue(), ranks.get(node) + ranks.get(other)));
      }
    }
    return best;
  }

  /** Gbit/s: in a ring of n ranks each sends and receives 2(n-1)/n of the message. */
  private static double bus(double bytesPerSecond, int ranks) {
    return bytesPerSecond * BITS * 2 * (ranks - 1) / ranks;
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    return sorted.get(sorted.size() / 2);
  }

  private static String gbits(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.1f Gbit/s" : "%.0f Gbit/s", value);
  }
}
