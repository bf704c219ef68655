package dev.gpush.shell.why;

import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RankStack;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Phrase;
import dev.gpush.shell.why.RunExplanation.Subject;
import dev.gpush.shell.why.StackGroup.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What is known of the ranks that were looked at, and of which of them it is not known. What is not
 * known is never taken for a rank that stands.
 */
final class LookedRanks {
  /** Output that is younger is no sign of a standstill. */
  private static final Duration QUIET = Duration.ofSeconds(10);

  /** Per cent of a processor from which on a process computes. */
  private static final int BUSY = 50;

  /** One that is ready and gets little on a full machine computes, too. */
  private static final int SOME = 5;

  /** Places that are named in a sentence. */
  private static final int PLACES = 3;

  private final Subject subject;
  private final List<NodeStacks> nodes;
  private final List<Member> members;
  private final List<Member> gone;
  private final List<Member> live;
  private final List<StackGroup> groups;

  LookedRanks(Subject subject, List<NodeStacks> nodes) {
    this.subject = subject;
    this.nodes = nodes.stream().filter(node -> subject.isOn(node.node().index())).toList();
    this.members = StackGroup.members(this.nodes);
    this.gone = members.stream().filter(each -> isStopped(each) || isEnded(each)).toList();
    this.live = members.stream().filter(each -> !gone.contains(each)).toList();
    this.groups = StackGroup.of(live);
  }

  List<NodeStacks> nodes() {
    return nodes;
  }

  List<NodeStacks> silent() {
    return nodes.stream().filter(node -> !node.problem().isEmpty()).toList();
  }

  List<Member> members() {
    return members;
  }

  /** Those that are neither stopped nor ended. */
  List<Member> live() {
    return live;
  }

  /** Of those that are live, where the stack is known. */
  List<StackGroup> groups() {
    return groups;
  }

  int all() {
    return Math.max(subject.ranks(), members.size());
  }

  // ---- what moves

  List<Member> moved() {
    return live.stream().filter(each -> each.stack().hasMoved().orElse(false)).toList();
  }

  private List<Member> seenOnce() {
    return seen().filter(each -> each.stack().hasMoved().isEmpty()).toList();
  }

  boolean areSeenOnce() {
    return seen().allMatch(each -> each.stack().hasMoved().isEmpty());
  }

  private Stream<Member> seen() {
    return groups.stream().flatMap(group -> group.members().stream());
  }

  /** Of every rank it is known where it is, and whether it moves. */
  boolean areWhole() {
    boolean hasAll = subject.run().isPresent() || silent().isEmpty();
    return hasAll && unseenCount() == 0 && seenOnce().isEmpty();
  }

  /** A process of which no number is known may be a launcher, and is a rank only if it is alone. */
  private int unseenCount() {
    long known =
        Stream.concat(seen(), gone.stream())
            .filter(each -> all() == 1 || each.rank().isPresent())
            .count();
    return all() - (int) known;
  }

  /** One that is ready and gets little on a full machine computes, too. */
  static boolean isBusy(Member member) {
    return member
        .stack()
        .process()
        .cpuPercent()
        .filter(share -> share >= least(member))
        .isPresent();
  }

  private static int least(Member member) {
    return member.stack().process().state().equals("R") ? SOME : BUSY;
  }

  private static boolean isIdle(Member member) {
    return member.stack().process().cpuPercent().filter(share -> share < least(member)).isPresent();
  }

  /** Not only for this second: it is known that all wait, and that nothing was printed. */
  boolean standStill() {
    return isQuiet() && areWhole() && live.stream().allMatch(LookedRanks::isIdle);
  }

  boolean isQuiet() {
    return quiet().filter(time -> time.compareTo(QUIET) >= 0).isPresent();
  }

  /** Since when it has printed nothing; a long time only if each node with ranks has told it. */
  Optional<Duration> quiet() {
    Optional<Duration> least =
        nodes.stream().flatMap(node -> node.quiet().stream()).min(Duration::compareTo);
    boolean isKnown =
        nodes.stream().allMatch(node -> node.ranks().isEmpty() || node.quiet().isPresent())
            && silent().isEmpty();
    return least.filter(time -> isKnown || time.compareTo(QUIET) < 0);
  }

  /** How long the nodes have looked. */
  String looked() {
    return nodes.stream()
        .filter(node -> !node.ranks().isEmpty())
        .flatMap(node -> node.looked().stream())
        .min(Duration::compareTo)
        .map(time -> " for " + seconds(time))
        .orElse("");
  }

  String printed(Duration quiet) {
    return isQuiet()
        ? "nothing for " + DurationText.of(quiet)
        : "something " + seconds(quiet) + " ago";
  }

  private static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.1fs", time.toMillis() / 1000.0);
  }

  /**
   * Those that wait for a disk or a network file system; one whose stack changes only reads or
   * writes.
   */
  List<Member> blocked() {
    return live.stream()
        .filter(each -> each.stack().process().state().equals("D"))
        .filter(each -> !each.stack().hasMoved().orElse(false))
        .toList();
  }

  boolean areBlocked() {
    return 2 * blocked().size() >= all() && !blocked().isEmpty();
  }

  // ---- what is gone

  List<Member> gone() {
    return gone;
  }

  List<Member> stopped() {
    return gone.stream().filter(LookedRanks::isStopped).toList();
  }

  private static boolean isStopped(Member member) {
    return member.stack().process().state().equalsIgnoreCase("t");
  }

  private static boolean isEnded(Member member) {
    return switch (member.stack().process().state()) {
      case "Z", "X", "ended" -> true;
      default -> false;
    };
  }

  /** "rank 2 was stopped by a signal (SIGSTOP, a debugger or Ctrl-Z)", "rank 3 has finished". */
  List<String> ends() {
    var parts = new ArrayList<String>();
    List<Member> stopped = stopped();
    if (!stopped.isEmpty()) {
      parts.add(
          StackGroup.names(stopped)
              + (stopped.size() == 1 ? " was" : " were")
              + " stopped by a signal (SIGSTOP, a debugger or Ctrl-Z)");
    }
    List<Member> ended = gone.stream().filter(each -> !isStopped(each)).toList();
    if (!ended.isEmpty()) {
      parts.add(
          StackGroup.names(ended)
              + (ended.size() == 1 ? " has" : " have")
              + (ended.stream().allMatch(this::isFinished) ? " finished" : " ended"));
    }
    return parts;
  }

  private boolean isFinished(Member member) {
    return subject.start().endsOnError() && member.stack().process().state().equals("ended");
  }

  // ---- where they are

  /** "3 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in load_batch at data.py:17". */
  String places() {
    return places(groups);
  }

  private String places(List<StackGroup> groups) {
    var parts = new ArrayList<String>();
    for (StackGroup group : groups.subList(0, Math.min(PLACES, groups.size()))) {
      String who = parts.isEmpty() ? first(group) : group.names();
      parts.add(who + " " + group.spot().predicate(group.size() == 1));
    }
    if (groups.size() > PLACES) {
      int rest = groups.stream().skip(PLACES).mapToInt(StackGroup::size).sum();
      parts.add(rest + (rest == 1 ? " is elsewhere" : " are elsewhere"));
    }
    parts.addAll(ends());
    parts.addAll(unknown());
    return String.join("; ", parts);
  }

  private String first(StackGroup group) {
    boolean areRanks = all() == 1 || group.ranks().size() == group.size();
    if (group.size() == all() && areRanks) {
      return all() == 1 ? "its rank" : "all " + all() + " ranks";
    }
    return group.size() == 1 || !areRanks
        ? group.names()
        : group.size() + " of " + all() + " ranks";
  }

  /** "rank 3 was not seen", "rank 2 was seen only once". */
  List<String> unknown() {
    var parts = new ArrayList<String>();
    int count = unseenCount();
    if (count > 0) {
      parts.add(notSeen(count) + (count == 1 ? " was" : " were") + " not seen");
    }
    List<Member> once = seenOnce();
    if (!once.isEmpty() && !areSeenOnce()) {
      parts.add(StackGroup.names(once) + (once.size() == 1 ? " was" : " were") + " seen only once");
    }
    if (subject.run().isEmpty() && !silent().isEmpty()) {
      List<String> numbers = silent().stream().map(node -> "" + node.node().index()).toList();
      parts.add(
          numbers.size() == 1
              ? "node " + numbers.getFirst() + " does not answer"
              : "nodes " + Phrase.and(numbers) + " do not answer");
    }
    return parts;
  }

  private String notSeen(int count) {
    List<Integer> known =
        Stream.concat(seen(), gone.stream()).flatMap(each -> each.rank().stream()).toList();
    List<Integer> others =
        subject.run().isPresent()
            ? IntStream.range(0, all()).boxed().filter(rank -> !known.contains(rank)).toList()
            : live.stream()
                .filter(each -> each.stack().frames().isEmpty())
                .flatMap(each -> each.rank().stream())
                .toList();
    if (others.size() != count) {
      return count + " of " + all() + " ranks";
    }
    return (count == 1 ? "rank " : "ranks ") + Phrase.ranges(others);
  }

  /**
   * Where half of the ranks or more wait in one collective, and were in collectives at more than
   * half of their looks: the others that waited for no rank at any of two looks or more. Those of
   * which some looks met the computing part of their steps are on neither side.
   */
  Optional<String> behind() {
    List<StackGroup> shown =
        new ArrayList<>(
            StackGroup.of(seen().filter(Member::wasMostlyInCollective).toList()).stream()
                .filter(StackGroup::isCollective)
                .toList());
    List<StackGroup> apart = StackGroup.of(seen().filter(Member::neverWaited).toList());
    boolean areAwaited =
        shown.size() == 1 && 2 * shown.getFirst().size() >= all() && !apart.isEmpty();
    shown.addAll(apart);
    return areAwaited ? Optional.of(places(shown)) : Optional.empty();
  }

  /** Ranks that wait for data, where none waits for another rank. */
  boolean areLoaderBound() {
    int waiting =
        groups.stream()
            .filter(group -> group.spot().kind() == RankSpot.Kind.LOADER)
            .mapToInt(StackGroup::size)
            .sum();
    return 2 * waiting >= all() && groups.stream().noneMatch(StackGroup::isCollective);
  }

  List<RankStack.Problem> problems() {
    return members.stream().flatMap(each -> each.stack().problem().stream()).toList();
  }
}
