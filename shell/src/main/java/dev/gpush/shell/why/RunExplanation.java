package dev.gpush.shell.why;

import dev.gpush.core.run.RunTransport;
import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.GpuSample;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeSample;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RankStack.Problem;
import dev.gpush.core.text.Phrase;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.top.Standouts;
import dev.gpush.shell.top.Standouts.Standout;
import dev.gpush.shell.top.TopPicture;
import dev.gpush.shell.why.Explanation.Code;
import dev.gpush.shell.why.Explanation.Evidence;
import dev.gpush.shell.why.StackGroup.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Why ranks in progress stand still or are slow: a pure function of what a second's look at their
 * stacks has shown, and of samples of their nodes.
 *
 * <p>Ranks that wait for another one look alike, and the one that they wait for does not. So the
 * stacks are compared, and nothing is judged by a limit in seconds. What stands still for good and
 * what only takes long cannot be told apart within a second; the answer says since when nothing was
 * printed, and the user knows their steps.
 */
public final class RunExplanation {
  /** GPUs below this and processors above the other wait for what the processors do. */
  private static final int GPU_LOW = 30;

  private static final int CPU_HIGH = 85;

  private static final int MOST_EVIDENCE = 6;

  private static final String DISK = " for a disk or a network file system";

  private final Subject subject;
  private final SessionCommands commands;
  private final LookedRanks ranks;
  private final TopPicture picture;
  private final RunPace pace;

  /**
   * What is asked about.
   *
   * @param label the beginning of the sentence
   * @param run empty: ranks that were started by hand
   * @param ranks how many it has
   */
  public record Subject(String label, Optional<Integer> run, int ranks, Start start) {
    public static Subject of(RunView run, Duration going) {
      return new Subject(
          run.label(going),
          Optional.of(run.number()),
          run.ranks(),
          new Start(
              run.launched().python(),
              run.state() == RunView.State.RUNNING && run.launched().mode().equals("ranks"),
              List.copyOf(run.nodes()),
              run.transport()));
    }

    /** Ranks that these nodes have found. */
    public static Subject byHand(List<NodeStacks> nodes) {
      int ranks = nodes.stream().mapToInt(node -> node.ranks().size()).sum();
      String label = ranks == 1 ? "the rank that was" : "the " + ranks + " ranks that were";
      return new Subject(label + " started by hand", Optional.empty(), ranks, Start.unknown());
    }

    boolean isOne() {
      return run.isPresent() || ranks == 1;
    }

    String python() {
      return start.python();
    }

    /** Whether it may have ranks there. */
    boolean isOn(int node) {
      return start.nodes().isEmpty() || start.nodes().contains(node);
    }

    String says(String one, String several) {
      return label + " " + (isOne() ? one : several);
    }

    /** The question again. */
    String again(SessionCommands commands) {
      return commands.of("why" + run.map(number -> " " + number).orElse(""));
    }
  }

  /**
   * How its ranks were started.
   *
   * @param endsOnError a rank that ends with an error ends it, so one that has ended had none
   * @param nodes on which it has slots; none: any of the session
   * @param network that its ranks use, as far as that is known
   */
  public record Start(
      String python, boolean endsOnError, List<Integer> nodes, Optional<RunTransport> network) {
    public Start {
      nodes = List.copyOf(nodes);
    }

    static Start unknown() {
      return new Start("", false, List.of(), Optional.empty());
    }
  }

  /**
   * @param picture of the same nodes
   */
  public RunExplanation(
      Subject subject, SessionCommands commands, List<NodeStacks> nodes, TopPicture picture) {
    this.subject = subject;
    this.commands = commands;
    this.ranks = new LookedRanks(subject, nodes);
    this.picture = picture;
    this.pace = RunPace.of(ranks.nodes());
  }

  public Explanation explain() {
    return founded(verdict());
  }

  private Explanation verdict() {
    var still = new StillRanks(subject, ranks, commands);
    if (ranks.members().isEmpty()) {
      return nothing();
    }
    if (ranks.live().isEmpty()) {
      return ranks.stopped().isEmpty() ? over() : still.gone();
    }
    if (ranks.areBlocked() && ranks.stopped().isEmpty()) {
      return storage(still);
    }
    if (ranks.groups().isEmpty()) {
      return unseen();
    }
    if (!ranks.moved().isEmpty()) {
      return moving();
    }
    Explanation found =
        !ranks.areWhole()
            ? still.partly()
            : ranks.gone().isEmpty() ? still.explain() : still.gone();
    if (!ranks.gone().isEmpty() || ranks.standStill()) {
      return found;
    }
    // One that makes its steps within seconds of each other need not move while it is looked at.
    if (pace.slow().isPresent()) {
      return slow("; at this moment " + ranks.places(), found.remedies());
    }
    return pace.goesOn() ? moving() : found;
  }

  private Explanation slow(String more, List<String> remedies) {
    Optional<String> network = slowNetwork().map(RunTransport::finding);
    return network.isPresent() && pace.isSlowFromItsBeginning()
        ? new Explanation(
            Code.SLOW_NETWORK,
            works() + "; its network is " + network.get() + more,
            List.of(),
            remedies)
        : new Explanation(Code.SLOW, works() + more, List.of(), remedies);
  }

  /** What its ranks use, where a faster one is there. */
  private Optional<RunTransport> slowNetwork() {
    return subject.start().network().filter(RunTransport::isWorse);
  }

  /** Most of the ranks wait for it at this moment, or without an end. */
  private Explanation storage(StillRanks still) {
    List<Member> blocked = ranks.blocked();
    boolean isSlow = pace.slow().isPresent();
    String begin =
        isSlow || !ranks.moved().isEmpty()
            ? works() + "; at this moment "
            : ranks.groups().isEmpty() ? subject.label() + ": " : still.begin();
    String where =
        ranks.groups().isEmpty()
            ? ". Where in their code is not known, because " + problem()
            : "; " + ranks.places();
    int node = blocked.getFirst().node().index();
    return Explanation.of(
        Code.STORAGE,
        begin + StackGroup.names(blocked) + verb(blocked.size(), " wait") + DISK + where,
        commands.of("exec --on " + node + " -- df -h ."),
        "data on a local disk: " + commands.of("cp"),
        commands.of("top"));
  }

  private Explanation nothing() {
    List<NodeStacks> silent = ranks.silent();
    if (!silent.isEmpty() && silent.size() == ranks.nodes().size()) {
      return Explanation.of(
          Code.UNREACHABLE,
          subject.label() + " cannot be looked at: no node of it answers",
          commands.of("nodes"),
          "gpush ps");
    }
    if (!silent.isEmpty()) {
      return Explanation.of(
          Code.PARTLY_SEEN,
          subject.label()
              + " has no process on the nodes that answer; not seen: "
              + Phrase.and(silent.stream().map(node -> "node " + node.node().index()).toList()),
          commands.of("nodes"));
    }
    return over();
  }

  private Explanation over() {
    return Explanation.of(
        Code.STARTING,
        subject.says("has", "have") + " no process now: it starts or ends",
        subject.run().map(run -> commands.of("logs " + run + " -f")).orElse("gpush ps"));
  }

  // ---- with stacks or steps that change

  private Explanation moving() {
    if (!ranks.stopped().isEmpty()) {
      return Explanation.of(
          Code.STANDS_OUT,
          works() + but() + ranks.ends().getFirst(),
          StillRanks.wakes(commands, ranks));
    }
    if (ranks.areLoaderBound()) {
      return Explanation.of(
          Code.LOADER_BOUND, works() + "; at this moment " + ranks.places(), loader());
    }
    Optional<String> starved = starved();
    if (starved.isPresent()) {
      return Explanation.of(Code.LOADER_BOUND, works() + but() + starved.get(), loader());
    }
    Optional<String> behind = ranks.behind();
    if (behind.isPresent()) {
      return Explanation.of(
          Code.BEHIND,
          works() + "; at this moment " + behind.get(),
          subject.again(commands) + " again: ranks that are behind each time are the slow ones",
          commands.of("top"));
    }
    List<Standout> standouts = standouts();
    if (!standouts.isEmpty()) {
      return Explanation.of(
          Code.STANDS_OUT, works() + but() + standouts.getFirst().sentence(), commands.of("top"));
    }
    if (pace.slow().isPresent()) {
      return slow("", causes());
    }
    return Explanation.of(
        Code.WORKING,
        ranks.moved().isEmpty()
            ? works() + "; at this moment " + ranks.places()
            : works() + ": " + StackGroup.names(ranks.moved()) + " moved while gpush looked",
        commands.of("top"));
  }

  /** That stacks change is no proof of work while nothing is printed. */
  private String works() {
    return pace.slow().map(slow -> subject.label() + " " + slow).orElseGet(this::moves);
  }

  private String but() {
    return pace.slow().isPresent() ? "; " : ", but ";
  }

  private List<String> causes() {
    return List.of(
        machines(),
        subject.again(commands)
            + " a few times: the line that ranks are at most often is the slow one");
  }

  private String machines() {
    return commands.of("top") + " shows clocks, temperatures, and what else uses the nodes";
  }

  private String moves() {
    return ranks
        .quiet()
        .filter(_ -> movesSilently())
        .map(quiet -> subject.says("moves", "move") + " and has printed " + ranks.printed(quiet))
        .orElse(subject.says("works", "work"));
  }

  /** Without a step that is as young as those of its rate are. */
  private boolean movesSilently() {
    return ranks.isQuiet() && !ranks.moved().isEmpty() && !pace.goesOn();
  }

  private String[] loader() {
    return new String[] {
      "more num_workers in the DataLoader where processors are free, less work for each item where not",
      "data on a local disk: " + commands.of("cp"),
      commands.of("top")
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
                + "%: they may wait for data");
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

  // ---- without stacks

  private Explanation unseen() {
    List<Member> live = ranks.live();
    List<Member> busy = live.stream().filter(LookedRanks::isBusy).toList();
    List<Member> blocked = ranks.blocked();
    String what;
    if (!blocked.isEmpty()) {
      what = StackGroup.names(blocked) + verb(blocked.size(), " wait") + DISK;
    } else if (busy.isEmpty()) {
      what = count(live.size()) + verb(live.size(), " wait") + ", none computes";
    } else if (busy.size() == live.size()) {
      what = count(busy.size()) + computing(busy.size());
    } else {
      int others = live.size() - busy.size();
      what =
          StackGroup.names(busy)
              + computing(busy.size())
              + (others == 1 ? ", the other" : ", the others")
              + verb(others, " wait");
    }
    List<String> parts = new ArrayList<>(ranks.ends());
    parts.add(what);
    String seen =
        String.join("; ", parts) + ". Where in their code is not known, because " + problem();
    return pace.slow().isPresent()
        ? slowUnseen("; " + seen)
        : Explanation.of(Code.NO_STACKS, subject.label() + ": " + seen);
  }

  private Explanation slowUnseen(String seen) {
    Optional<String> starved = starved();
    if (starved.isPresent()) {
      return Explanation.of(Code.LOADER_BOUND, works() + but() + starved.get() + seen, loader());
    }
    List<Standout> standouts = standouts();
    if (!standouts.isEmpty()) {
      String first = standouts.getFirst().sentence();
      return Explanation.of(Code.STANDS_OUT, works() + but() + first + seen, commands.of("top"));
    }
    return slow(seen, List.of(machines()));
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
    return ranks.problems().stream()
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
        .orElse("py-spy showed no Python code");
  }

  // ---- what it is founded on

  /** With what was seen, and how to see more. */
  private Explanation founded(Explanation verdict) {
    var evidence = new ArrayList<>(verdict.evidence());
    ranks
        .quiet()
        .filter(_ -> !movesSilently()) // works() has said it.
        .map(
            quiet -> "it " + (ranks.isQuiet() ? "has printed " : "printed ") + ranks.printed(quiet))
        .ifPresent(line -> evidence.add(Evidence.of(line)));
    pace.evidence().forEach(line -> evidence.add(Evidence.of(line)));
    slowNetwork()
        .filter(_ -> verdict.code() != Code.SLOW_NETWORK)
        .ifPresent(used -> evidence.add(Evidence.of("its network is " + used.finding())));
    StackGroup.of(ranks.members()).stream()
        .limit(MOST_EVIDENCE)
        .forEach(group -> evidence.add(group.evidence()));
    evidence.addAll(unknown());
    ranks.silent().stream()
        .map(
            node ->
                "node " + node.node().index() + " (" + node.node().host() + "): " + node.problem())
        .forEach(line -> evidence.add(Evidence.of(line)));
    standouts().stream()
        .limit(MOST_EVIDENCE)
        .forEach(each -> evidence.add(Evidence.of(each.sentence())));
    var remedies = new ArrayList<>(verdict.remedies());
    slowNetwork()
        .map(used -> commands.named(used.remedy()))
        .filter(line -> !line.isEmpty())
        .ifPresent(
            line -> remedies.add(verdict.code() == Code.SLOW_NETWORK ? 0 : remedies.size(), line));
    remedies.addAll(new StackAccess(ranks.nodes(), subject, commands).remedies());
    return new Explanation(verdict.code(), verdict.text(), evidence, remedies);
  }

  /**
   * Ranks without a stack: what the kernel says of them, the odd ones first, and what py-spy said.
   */
  private List<Evidence> unknown() {
    List<Member> all =
        ranks.members().stream().filter(each -> each.stack().frames().isEmpty()).toList();
    List<List<Member>> alike = StackGroup.inTheSameState(all);
    return (alike.size() > MOST_EVIDENCE ? List.of(all) : alike)
        .stream()
            .map(
                each ->
                    new Evidence(
                        StackGroup.names(each) + ": " + StackGroup.doing(each), said(each)))
            .toList();
  }

  private static List<String> said(List<Member> members) {
    return members.stream()
        .flatMap(each -> each.stack().problem().stream())
        .map(Problem::said)
        .filter(text -> !text.isEmpty())
        .distinct()
        .limit(2)
        .map(text -> "py-spy: " + text)
        .toList();
  }
}
