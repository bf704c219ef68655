package dev.gpush.shell.why;

import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.GpuSample;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RankStack;
import dev.gpush.core.sample.RankStack.Problem;
import dev.gpush.core.time.DurationText;
import dev.gpush.shell.top.Standouts;
import dev.gpush.shell.top.Standouts.Standout;
import dev.gpush.shell.top.TopPicture;
import dev.gpush.shell.why.Explanation.Code;
import dev.gpush.shell.why.Explanation.Evidence;
import dev.gpush.shell.why.StackGroup.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Why ranks in progress stand still or are slow: a pure function of two looks at their stacks and
 * of samples of their nodes.
 *
 * <p>Ranks that wait for another one look alike, and the one that they wait for does not. So the
 * stacks are compared, and nothing is judged by a limit in seconds. What stands still for good and
 * what only takes long cannot be told apart within a second; the answer says since when nothing was
 * printed, and the user knows their steps.
 */
public final class RunExplanation {
  /** Output that is younger is no sign of a standstill. */
  private static final Duration QUIET = Duration.ofSeconds(10);

  /** Per cent of a processor from which on a process computes. */
  private static final int BUSY = 50;

  private static final int SOME = 5;

  /** GPUs below this and processors above the other wait for what the processors do. */
  private static final int GPU_LOW = 30;

  private static final int CPU_HIGH = 85;

  /** Places that are named in the sentence. */
  private static final int PLACES = 3;

  private static final int MOST_EVIDENCE = 6;

  private final Subject subject;
  private final List<NodeStacks> nodes;
  private final TopPicture picture;
  private final List<Member> members;
  private final List<StackGroup> groups;

  /**
   * What is asked about.
   *
   * @param label the beginning of the sentence
   * @param run empty: ranks that were started by hand
   * @param ranks how many it has
   * @param python of the ranks; possibly nothing
   */
  public record Subject(String label, Optional<Integer> run, int ranks, String python) {
    public static Subject of(RunView run, Duration going) {
      String python = run.launched().python();
      return new Subject(run.label(going), Optional.of(run.number()), run.ranks(), python);
    }

    /** Ranks that these nodes have found. */
    public static Subject byHand(List<NodeStacks> nodes) {
      int ranks = nodes.stream().mapToInt(node -> node.ranks().size()).sum();
      String label = ranks == 1 ? "the rank that was" : "the " + ranks + " ranks that were";
      return new Subject(label + " started by hand", Optional.empty(), ranks, "");
    }

    String says(String one, String several) {
      return label + " " + (run.isPresent() || ranks == 1 ? one : several);
    }
  }

  /**
   * @param picture of the same nodes
   */
  public RunExplanation(Subject subject, List<NodeStacks> nodes, TopPicture picture) {
    this.subject = subject;
    this.nodes = List.copyOf(nodes);
    this.picture = picture;
    this.members = StackGroup.members(nodes);
    this.groups = StackGroup.of(nodes);
  }

  public Explanation explain() {
    if (members.isEmpty()) {
      return nothing();
    }
    List<Member> gone = members.stream().filter(RunExplanation::isGone).toList();
    Explanation verdict =
        !gone.isEmpty()
            ? gone(gone)
            : groups.isEmpty()
                ? unseen()
                : groups.stream().allMatch(StackGroup::isStill) ? still() : moving();
    return founded(verdict);
  }

  private Explanation nothing() {
    List<NodeStacks> silent = nodes.stream().filter(node -> !node.problem().isEmpty()).toList();
    if (silent.size() == nodes.size() && !nodes.isEmpty()) {
      return founded(
          Explanation.of(
              Code.UNREACHABLE,
              subject.label() + " cannot be looked at: no node answers",
              "gpush nodes",
              "gpush ps"));
    }
    return founded(
        Explanation.of(
            Code.STARTING,
            subject.says("has", "have") + " no process on the nodes that answer: it starts or ends",
            subject.run().map(run -> "gpush logs " + run + " -f").orElse("gpush ps")));
  }

  private static boolean isGone(Member member) {
    return switch (member.stack().process().state()) {
      case "T", "t", "Z", "X", "ended" -> true;
      default -> false;
    };
  }

  private Explanation gone(List<Member> gone) {
    boolean isStopped = gone.stream().allMatch(each -> isStopped(each.stack()));
    Member first = gone.getFirst();
    String wakes =
        "gpush exec --on "
            + first.node().index()
            + " -- kill -CONT "
            + first.stack().process().pid();
    return Explanation.of(
        Code.RANK_GONE,
        subject.says("waits", "wait")
            + " for "
            + StackGroup.names(gone)
            + (isStopped
                ? ", which a signal has stopped (SIGSTOP, a debugger or Ctrl-Z)"
                : gone.size() == 1 ? ", whose process has ended" : ", whose processes have ended"),
        isStopped ? new String[] {wakes} : logs(first));
  }

  private static boolean isStopped(RankStack stack) {
    return stack.process().state().equalsIgnoreCase("t");
  }

  // ---- with stacks

  private Explanation still() {
    boolean isQuiet = quiet().map(time -> time.compareTo(QUIET) >= 0).orElse(true);
    String looked =
        nodes.stream()
            .flatMap(node -> node.looked().stream())
            .min(Duration::compareTo)
            .map(time -> " for " + seconds(time))
            .orElse("");
    String begin =
        isQuiet
            ? subject.says("stands still: ", "stand still: ")
            : subject.label() + " did not move" + looked + ": ";
    long collectives = groups.stream().filter(StackGroup::isCollective).count();
    StackGroup first = groups.getFirst();
    if (isLoaderBound()) {
      return Explanation.of(Code.LOADER_BOUND, begin + places(), loader());
    }
    if (groups.size() == 1) {
      return Explanation.of(Code.SAME_PLACE, begin + places(), together(first));
    }
    if (collectives == groups.size()) {
      return Explanation.of(
          Code.COLLECTIVES_DIFFER,
          begin + places(),
          "all ranks must make the same collective calls in the same order: compare "
              + first.spot().place()
              + " with "
              + groups.get(1).spot().place());
    }
    boolean isMost = 2 * first.size() > seen();
    return collectives == 1 || isMost
        ? Explanation.of(Code.RANK_APART, begin + places(), apart(groups.get(1)))
        : Explanation.of(Code.PLACES_DIFFER, begin + places(), logs(first.members().getFirst()));
  }

  private String[] apart(StackGroup odd) {
    var lines = new ArrayList<String>();
    Member member = odd.members().getFirst();
    lines.add(
        "look at "
            + odd.spot().place()
            + ", where "
            + odd.names()
            + (odd.size() == 1 ? " is" : " are")
            + ": the others cannot go on before that");
    if (member.stack().process().state().equals("D")) {
      lines.add("gpush exec --on " + member.node().index() + " -- df -h .");
    }
    lines.addAll(List.of(logs(member)));
    return lines.toArray(new String[0]);
  }

  private String[] together(StackGroup all) {
    if (!all.isCollective() || seen() < 2) {
      return new String[] {"look at " + all.spot().place()};
    }
    var lines = new ArrayList<String>();
    lines.add("all ranks are there, so the network or a GPU does not answer");
    subject.run().ifPresent(run -> lines.add("gpush stop " + run + ", then gpush check --level 2"));
    return lines.toArray(new String[0]);
  }

  private Explanation moving() {
    if (isLoaderBound()) {
      return Explanation.of(
          Code.LOADER_BOUND, subject.says("waits", "wait") + " for data: " + places(), loader());
    }
    Optional<String> starved = starved();
    if (starved.isPresent()) {
      return Explanation.of(
          Code.LOADER_BOUND,
          subject.says("waits", "wait") + " for data: " + starved.get(),
          loader());
    }
    List<Standout> standouts = standouts();
    StackGroup first = groups.getFirst();
    boolean isAwaited =
        groups.size() > 1
            && first.isCollective()
            && first.isStill()
            && 2 * first.size() >= seen()
            && groups.stream().skip(1).noneMatch(StackGroup::isCollective);
    if (isAwaited) {
      return Explanation.of(
          Code.BEHIND,
          subject.says("works", "work") + "; at this moment " + places(),
          "gpush why again: ranks that are behind each time are the slow ones",
          "gpush top");
    }
    if (!standouts.isEmpty()) {
      return Explanation.of(
          Code.STANDS_OUT,
          subject.says("works", "work") + ", but " + standouts.getFirst().sentence(),
          "gpush top");
    }
    return Explanation.of(
        Code.WORKING,
        subject.says("works", "work") + ": ranks moved while gpush looked",
        "gpush top");
  }

  /** Ranks that wait for data, where none waits for another rank. */
  private boolean isLoaderBound() {
    int waiting =
        groups.stream()
            .filter(group -> group.spot().kind() == RankSpot.Kind.LOADER)
            .mapToInt(StackGroup::size)
            .sum();
    return 2 * waiting >= seen() && groups.stream().noneMatch(StackGroup::isCollective);
  }

  private static String[] loader() {
    return new String[] {
      "more num_workers in the DataLoader where processors are free, less work for each item where not",
      "data on a local disk: gpush cp",
      "gpush top"
    };
  }

  /** GPUs that wait while the processors of their node are full. */
  private Optional<String> starved() {
    for (NodeReading reading : picture.nodes()) {
      Optional<NodeSample> sample = reading.sample();
      List<Integer> busy =
          sample.stream()
              .flatMap(each -> each.gpus().all().stream())
              .filter(gpu -> isClaimed(reading, gpu))
              .flatMap(gpu -> gpu.percent().stream())
              .sorted()
              .toList();
      Optional<Double> cpu = sample.flatMap(each -> each.host().cpuPercent());
      if (!busy.isEmpty()
          && busy.get(busy.size() / 2) < GPU_LOW
          && cpu.filter(percent -> percent >= CPU_HIGH).isPresent()) {
        return Optional.of(
            "on node "
                + reading.node().index()
                + " the processors are "
                + Math.round(cpu.get())
                + "% busy and its GPUs "
                + busy.get(busy.size() / 2)
                + "%");
      }
    }
    return Optional.empty();
  }

  private boolean isClaimed(NodeReading reading, GpuSample gpu) {
    return subject.run().isEmpty()
        || picture.runOn(reading.node().index(), gpu.slot()).equals(subject.run());
  }

  /** What differs among the GPUs and ranks; that nodes are silent is said elsewhere. */
  private List<Standout> standouts() {
    return Standouts.of(picture).stream()
        .filter(each -> each.gpu().isPresent() || each.rank().isPresent())
        .toList();
  }

  /** "3 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in load_batch at data.py:17". */
  private String places() {
    int all = Math.max(subject.ranks(), members.size());
    StackGroup first = groups.getFirst();
    var parts = new ArrayList<String>();
    boolean isWhole = first.size() == all;
    String who =
        isWhole
            ? all == 1 ? "its rank" : "all " + all + " ranks"
            : first.size() == 1 ? first.names() : first.size() + " of " + all + " ranks";
    parts.add(who + " " + first.spot().predicate(first.size() == 1));
    groups.stream()
        .skip(1)
        .limit(PLACES - 1)
        .forEach(
            group -> parts.add(group.names() + " " + group.spot().predicate(group.size() == 1)));
    if (groups.size() > PLACES) {
      int rest = groups.stream().skip(PLACES).mapToInt(StackGroup::size).sum();
      parts.add(rest + (rest == 1 ? " is elsewhere" : " are elsewhere"));
    }
    if (seen() < all) {
      parts.add(
          "where " + (all - seen() == 1 ? "one is" : (all - seen()) + " are") + " is not known");
    }
    return String.join("; ", parts);
  }

  private int seen() {
    return groups.stream().mapToInt(StackGroup::size).sum();
  }

  // ---- without stacks

  private Explanation unseen() {
    List<Member> busy = members.stream().filter(RunExplanation::isBusy).toList();
    List<Member> blocked =
        members.stream().filter(each -> each.stack().process().state().equals("D")).toList();
    String what;
    if (!blocked.isEmpty()) {
      what =
          StackGroup.names(blocked)
              + verb(blocked.size(), " wait")
              + " for a disk or a network file system";
    } else if (busy.isEmpty()) {
      what = count(members.size()) + verb(members.size(), " wait") + ", none computes";
    } else if (busy.size() == members.size()) {
      what = count(busy.size()) + computing(busy.size());
    } else {
      int others = members.size() - busy.size();
      what =
          StackGroup.names(busy)
              + computing(busy.size())
              + (others == 1 ? ", the other" : ", the others")
              + verb(others, " wait");
    }
    return Explanation.of(
        Code.NO_STACKS,
        subject.label() + ": " + what + ". Where in their code is not known, because " + problem());
  }

  /** One that is ready and gets little on a full machine computes, too. */
  private static boolean isBusy(Member member) {
    RankStack.Process process = member.stack().process();
    int least = process.state().equals("R") ? SOME : BUSY;
    return process.cpuPercent().filter(share -> share >= least).isPresent();
  }

  private String count(int ranks) {
    if (ranks < subject.ranks()) {
      return ranks + " of " + subject.ranks() + " ranks";
    }
    return ranks == 1 ? "its process" : "all " + ranks + " ranks";
  }

  private static String computing(int ranks) {
    return verb(ranks, " compute")
        + " or"
        + verb(ranks, " wait")
        + " in NCCL, which looks the same";
  }

  private static String verb(int ranks, String plural) {
    return plural + (ranks == 1 ? "s" : "");
  }

  private String problem() {
    return problems().stream()
        .map(Problem::reason)
        .findFirst()
        .map(
            reason ->
                switch (reason) {
                  case MISSING -> "py-spy is not there";
                  case DENIED -> "reading stacks needs ptrace rights, which are missing";
                  case LATE -> "py-spy did not answer in time";
                  case FAILED -> "py-spy could not read them";
                })
        .orElse("no node told it");
  }

  private List<Problem> problems() {
    return members.stream().flatMap(each -> each.stack().problem().stream()).toList();
  }

  // ---- what it is founded on

  /** With what was seen, and how to see more. */
  private Explanation founded(Explanation verdict) {
    var evidence = new ArrayList<>(verdict.evidence());
    quiet()
        .map(
            time ->
                time.compareTo(QUIET) < 0
                    ? "it printed something " + seconds(time) + " ago"
                    : "it has printed nothing for " + DurationText.of(time))
        .ifPresent(line -> evidence.add(Evidence.of(line)));
    groups.stream().limit(MOST_EVIDENCE).forEach(group -> evidence.add(group.evidence()));
    unknown().ifPresent(evidence::add);
    nodes.stream()
        .filter(node -> !node.problem().isEmpty())
        .map(
            node ->
                "node " + node.node().index() + " (" + node.node().host() + "): " + node.problem())
        .forEach(line -> evidence.add(Evidence.of(line)));
    standouts().stream()
        .limit(MOST_EVIDENCE)
        .forEach(each -> evidence.add(Evidence.of(each.sentence())));
    var remedies = new ArrayList<>(verdict.remedies());
    remedies.addAll(new StackAccess(nodes, subject.python()).remedies());
    subject
        .run()
        .filter(_ -> isHopeless(verdict.code()))
        .ifPresent(run -> remedies.add("gpush stop " + run));
    return new Explanation(verdict.code(), verdict.text(), evidence, remedies);
  }

  private static boolean isHopeless(Code code) {
    return code == Code.RANK_APART || code == Code.COLLECTIVES_DIFFER || code == Code.PLACES_DIFFER;
  }

  /** Ranks without a stack: what the kernel says of them, and what py-spy said. */
  private Optional<Evidence> unknown() {
    List<Member> all = members.stream().filter(each -> each.stack().frames().isEmpty()).toList();
    if (all.isEmpty()) {
      return Optional.empty();
    }
    List<String> said =
        all.stream()
            .flatMap(each -> each.stack().problem().stream())
            .map(Problem::said)
            .filter(text -> !text.isEmpty())
            .distinct()
            .limit(2)
            .map(text -> "py-spy: " + text)
            .toList();
    return Optional.of(new Evidence(StackGroup.names(all) + ": " + StackGroup.doing(all), said));
  }

  private Optional<Duration> quiet() {
    return nodes.stream().flatMap(node -> node.quiet().stream()).min(Duration::compareTo);
  }

  private static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.1fs", time.toMillis() / 1000.0);
  }

  private String[] logs(Member member) {
    return subject
        .run()
        .map(run -> "gpush logs " + run + member.rank().map(rank -> " --rank " + rank).orElse(""))
        .map(line -> new String[] {line})
        .orElse(new String[0]);
  }
}
