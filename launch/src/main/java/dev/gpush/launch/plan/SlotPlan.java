package dev.gpush.launch.plan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which slots of which nodes a run claims; pure.
 *
 * @param claims in the order of their ranks; every claim has a slot
 */
public record SlotPlan(List<Claim> claims) {
  static final String RULE =
      "NODES or NODES:SLOTS, comma between them: 0, 0-1, 0:4-7, 0:0-3,1:0; numbers start at 0";

  /** A range of a million slots is a typing error. */
  private static final int MOST = 4096;

  /** The slots of one node, by name. */
  record Claim(int node, List<String> slots) {
    public Claim {
      slots = List.copyOf(slots);
    }
  }

  public SlotPlan {
    claims = List.copyOf(claims);
  }

  /**
   * The slots that a run of these words claims.
   *
   * @param busy node → slot → the run that claims it
   * @throws GpushException with {@code BadSlots} for what is never possible, {@code NoFreeSlots}
   *     for what is not possible now
   */
  public static SlotPlan of(
      List<NodeInfo> nodes, RunRequest.Claim ask, Map<Integer, Map<String, Integer>> busy) {
    if (ask.on().isEmpty()) {
      return counted(nodes, ask, busy);
    }
    Optional<List<NodeInfo>> whole = ask.slots().flatMap(_ -> wholeNodes(nodes, ask));
    return whole.isPresent() ? counted(whole.orElseThrow(), ask, busy) : named(nodes, ask, busy);
  }

  /** Of {@code --on 1 --gpus 2}: the nodes; empty where slots are named, too. */
  private static Optional<List<NodeInfo>> wholeNodes(List<NodeInfo> nodes, RunRequest.Claim ask) {
    String on = ask.on().orElseThrow();
    if (ask.nodes().isPresent() || on.contains(":")) {
      return Optional.empty();
    }
    var chosen = new TreeSet<Integer>();
    for (String part : on.split(",", -1)) {
      chosen.addAll(range(part, nodes.size(), ask, "node"));
    }
    return Optional.of(chosen.stream().map(nodes::get).toList());
  }

  /** The nodes that it uses. */
  public List<Integer> nodes() {
    return claims.stream().map(Claim::node).toList();
  }

  /** A node without named slots can still run one thing. */
  private static List<String> slots(NodeInfo node) {
    return node.slots().isEmpty() ? List.of("0") : node.slots();
  }

  private static SlotPlan counted(
      List<NodeInfo> nodes, RunRequest.Claim ask, Map<Integer, Map<String, Integer>> busy) {
    int wantedNodes = ask.nodes().orElse(nodes.size());
    if (wantedNodes < 1 || wantedNodes > nodes.size()) {
      throw bad(ask, "the session has " + Phrase.counted(nodes.size(), "node"));
    }
    ask.slots().ifPresent(count -> requireSlots(nodes, ask, wantedNodes, count));
    var claims = new ArrayList<Claim>();
    var holders = new TreeSet<Integer>();
    for (NodeInfo node : Neighbours.ordered(nodes)) {
      Map<String, Integer> claimed = busy.getOrDefault(node.index(), Map.of());
      List<String> free = slots(node).stream().filter(slot -> !claimed.containsKey(slot)).toList();
      int wanted = ask.slots().orElse(slots(node).size());
      if (free.size() >= wanted && claims.size() < wantedNodes) {
        claims.add(new Claim(node.index(), free.subList(0, wanted)));
      } else if (free.size() < wanted) {
        holders.addAll(claimed.values());
      }
    }
    if (claims.size() < wantedNodes) {
      throw noneFree(ask, holders);
    }
    return new SlotPlan(claims);
  }

  private static void requireSlots(
      List<NodeInfo> nodes, RunRequest.Claim ask, int wantedNodes, int count) {
    long large = nodes.stream().filter(node -> slots(node).size() >= count).count();
    if (count < 1 || large < wantedNodes) {
      int most = nodes.stream().mapToInt(node -> slots(node).size()).max().orElse(0);
      throw bad(ask, "the nodes have " + Phrase.counted(most, "slot") + " each");
    }
  }

  private static SlotPlan named(
      List<NodeInfo> nodes, RunRequest.Claim ask, Map<Integer, Map<String, Integer>> busy) {
    if (ask.nodes().isPresent() || ask.slots().isPresent()) {
      throw bad(ask, "--on names slots, --nodes and --gpus give numbers; use only one of the two");
    }
    var chosen = new TreeMap<Integer, TreeSet<Integer>>();
    for (String part : ask.on().orElseThrow().split(",", -1)) {
      int colon = part.indexOf(':');
      String nodePart = colon < 0 ? part : part.substring(0, colon);
      for (int index : range(nodePart, nodes.size(), ask, "node")) {
        List<String> all = slots(nodes.get(index));
        var positions = chosen.computeIfAbsent(index, _ -> new TreeSet<>());
        String slotPart = colon < 0 ? "0-" + (all.size() - 1) : part.substring(colon + 1);
        positions.addAll(
            all.contains(slotPart)
                ? List.of(all.indexOf(slotPart))
                : range(slotPart, all.size(), ask, "slot"));
      }
    }
    var claims = new ArrayList<Claim>();
    var holders = new TreeSet<Integer>();
    List<NodeInfo> ordered = Neighbours.ordered(chosen.keySet().stream().map(nodes::get).toList());
    ordered.forEach(
        node -> {
          TreeSet<Integer> positions = chosen.getOrDefault(nodes.indexOf(node), new TreeSet<>());
          List<String> names = positions.stream().map(slots(node)::get).toList();
          claims.add(new Claim(node.index(), names));
          Map<String, Integer> claimed = busy.getOrDefault(node.index(), Map.of());
          names.stream().filter(claimed::containsKey).map(claimed::get).forEach(holders::add);
        });
    if (!holders.isEmpty()) {
      throw noneFree(ask, holders);
    }
    return new SlotPlan(claims);
  }

  /** {@code 3} or {@code 0-3}, each below the limit. */
  private static List<Integer> range(String text, int limit, RunRequest.Claim ask, String what) {
    String[] ends = text.split("-", -1);
    if (ends.length > 2) {
      throw bad(ask, RULE);
    }
    int from = number(ends[0], ask);
    int to = number(ends[ends.length - 1], ask);
    if (from > to || to - from >= MOST) {
      throw bad(ask, RULE);
    }
    if (to >= limit) {
      throw bad(ask, "there is no " + what + " " + to + ": the last one is " + (limit - 1));
    }
    var numbers = new ArrayList<Integer>();
    for (int number = from; number <= to; number++) {
      numbers.add(number);
    }
    return numbers;
  }

  private static int number(String text, RunRequest.Claim ask) {
    if (!text.matches("[0-9]{1,6}")) {
      throw bad(ask, RULE);
    }
    return Integer.parseInt(text);
  }

  private static GpushException bad(RunRequest.Claim ask, String rule) {
    return new GpushException(new LaunchFailure.BadSlots(ask.words(), rule));
  }

  private static GpushException noneFree(RunRequest.Claim ask, TreeSet<Integer> holders) {
    return new GpushException(
        new LaunchFailure.NoFreeSlots(
            ask.words(),
            holders.stream().map(run -> "run " + run).collect(Collectors.toUnmodifiableList())));
  }
}
