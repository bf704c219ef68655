package dev.gpush.shell.why;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RankStack;
import dev.gpush.core.sample.RankStack.Process;
import dev.gpush.core.sample.StackFrame;
import dev.gpush.core.text.Phrase;
import dev.gpush.shell.why.Explanation.Evidence;
import dev.gpush.shell.why.RankSpot.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Ranks at the same spot of their code.
 *
 * @param members at least one, in the order of the ranks
 */
public record StackGroup(RankSpot spot, List<Member> members) {
  /** A stack is read from the place where it stands; what called that is context. */
  private static final int CALLS = 8;

  /** What a library does inside is of little help. */
  private static final int LIBRARY_CALLS = 2;

  /** More process numbers are of no help. */
  private static final int NAMED = 2;

  /** A rank and its node. */
  public record Member(NodeInfo node, RankStack stack) {
    Optional<Integer> rank() {
      return stack.rank();
    }

    /** At more than half of the looks; one look is too few to know. */
    boolean wasMostlyInCollective() {
      List<RankSpot> looks = looks();
      long collectives = looks.stream().filter(spot -> spot.kind() == Kind.COLLECTIVE).count();
      return stack.hasMoved().isPresent() && 2 * collectives > looks.size();
    }

    /** At no look it waited for other ranks; one look is too few to know. */
    boolean neverWaited() {
      return stack.hasMoved().isPresent()
          && looks().stream()
              .noneMatch(spot -> spot.kind() == Kind.COLLECTIVE || spot.kind() == Kind.PEER);
    }

    /** Where each look met it; one spot stands for all if they do not differ. */
    private List<RankSpot> looks() {
      List<List<StackFrame>> spots = stack.motion().spots();
      return (spots.isEmpty() ? List.of(stack.frames()) : spots)
          .stream().map(RankSpot::of).toList();
    }
  }

  public StackGroup {
    members = List.copyOf(members);
  }

  /** All ranks of these nodes, in their order. */
  static List<Member> members(List<NodeStacks> nodes) {
    return nodes.stream()
        .flatMap(node -> node.ranks().stream().map(rank -> new Member(node.node(), rank)))
        .sorted(
            Comparator.comparing((Member each) -> each.rank().orElse(Integer.MAX_VALUE))
                .thenComparing(each -> each.node().index()))
        .toList();
  }

  public static List<StackGroup> ofNodes(List<NodeStacks> nodes) {
    return of(members(nodes));
  }

  /** Those whose stacks are known: first who waits in collectives, then the largest. */
  static List<StackGroup> of(List<Member> members) {
    var spots = new LinkedHashMap<RankSpot, List<Member>>();
    for (Member member : members) {
      if (!member.stack().frames().isEmpty()) {
        spots
            .computeIfAbsent(RankSpot.of(member.stack().frames()), _ -> new ArrayList<>())
            .add(member);
      }
    }
    return spots.entrySet().stream()
        .map(each -> new StackGroup(each.getKey(), each.getValue()))
        .sorted(
            Comparator.comparing((StackGroup each) -> !each.isCollective())
                .thenComparing(each -> -each.size()))
        .toList();
  }

  int size() {
    return members.size();
  }

  boolean isCollective() {
    return spot.kind() == Kind.COLLECTIVE;
  }

  public List<Integer> ranks() {
    return members.stream().flatMap(each -> each.rank().stream()).toList();
  }

  /** "rank 2", "ranks 0, 1, 3", "the process on node 1" of what is no rank. */
  String names() {
    return names(members);
  }

  static String names(List<Member> members) {
    List<Integer> ranks = members.stream().flatMap(each -> each.rank().stream()).toList();
    if (ranks.size() < members.size()) {
      List<String> nodes =
          members.stream().map(each -> "" + each.node().index()).distinct().toList();
      return (members.size() == 1 ? "the process on node" : "the processes on node")
          + (nodes.size() == 1 ? " " : "s ")
          + Phrase.and(nodes);
    }
    return (ranks.size() == 1 ? "rank " : "ranks ") + Phrase.ranges(ranks);
  }

  /** Its ranks, what their processes do, and the stack of the first one. */
  Evidence evidence() {
    var lines = new ArrayList<String>(calls(members.getFirst().stack().frames()));
    var workers = new LinkedHashMap<List<String>, List<Long>>();
    members.stream()
        .flatMap(each -> each.stack().workers().stream())
        .forEach(
            worker ->
                workers
                    .computeIfAbsent(calls(worker.frames()), _ -> new ArrayList<>())
                    .add(worker.pid()));
    workers.forEach(
        (calls, pids) -> {
          lines.add(
              pids.size() == 1
                  ? "its data loader's process " + pids.getFirst() + ":"
                  : pids.size() + " processes of data loaders, such as " + pids.getFirst() + ":");
          calls.forEach(line -> lines.add("  " + line));
        });
    return new Evidence(
        names() + (size() <= NAMED ? " (" + places() + ")" : "") + ": " + doing(members), lines);
  }

  private String places() {
    return String.join(
        "; ",
        members.stream()
            .map(each -> "node " + each.node().index() + ", pid " + each.stack().process().pid())
            .toList());
  }

  /** The innermost calls, and those of the user's own code. */
  private static List<String> calls(List<StackFrame> frames) {
    var lines = new ArrayList<String>();
    int libraries = 0;
    int left = 0;
    for (StackFrame frame : frames) {
      boolean isShown = frame.isOwn() || libraries < LIBRARY_CALLS;
      libraries += frame.isOwn() ? 0 : 1;
      if (!isShown || lines.size() == CALLS) {
        left++;
        continue;
      }
      if (left > 0) {
        lines.add("… " + left + " more");
        left = 0;
      }
      lines.add(frame.function() + " (" + frame.place() + ")");
    }
    return lines;
  }

  /** Groups of what the kernel says of their processes, the smallest first. */
  static List<List<Member>> inTheSameState(List<Member> members) {
    var groups = new LinkedHashMap<String, List<Member>>();
    for (Member each : members) {
      groups.computeIfAbsent(state(each.stack().process()), _ -> new ArrayList<>()).add(each);
    }
    return groups.values().stream().sorted(Comparator.comparingInt(List::size)).toList();
  }

  /** What the kernel says of the processes: "asleep, 0% of a processor". */
  static String doing(List<Member> members) {
    List<String> states =
        members.stream().map(each -> state(each.stack().process())).distinct().toList();
    List<Long> shares =
        members.stream()
            .flatMap(each -> each.stack().process().cpuPercent().stream())
            .map(Math::round)
            .sorted()
            .toList();
    String share =
        shares.isEmpty()
            ? ""
            : shares.getFirst().equals(shares.getLast())
                ? ", " + shares.getFirst() + "% of a processor"
                : String.format(
                    Locale.ROOT,
                    ", %d%% to %d%% of a processor",
                    shares.getFirst(),
                    shares.getLast());
    return String.join(" or ", states) + share;
  }

  private static String state(Process process) {
    String where = process.kernelWait().map(name -> " in " + name).orElse("");
    return switch (process.state()) {
      case "R" -> "computing";
      case "D" -> "waiting for a disk" + where;
      case "T", "t" -> "stopped";
      case "Z", "X", "ended" -> "ended";
      case "S", "I" -> "asleep" + where;
      default -> "state " + process.state();
    };
  }
}
