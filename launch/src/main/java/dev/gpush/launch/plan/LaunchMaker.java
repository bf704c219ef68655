package dev.gpush.launch.plan;

import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.launch.fabric.gang.RankFabric;
import dev.gpush.launch.fabric.gang.RunFabrics;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.OutputFolders;
import dev.gpush.launch.node.PythonChoice;
import dev.gpush.launch.node.PythonFacts;
import dev.gpush.launch.node.Pythons;
import dev.gpush.launch.run.RunRecord;
import dev.gpush.launch.words.BatchBody;
import dev.gpush.launch.words.LauncherCommand;
import dev.gpush.launch.words.RunWords;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Turns a request into a plan: which command, which Python, which mode; and a refusal into a
 * failure that the user can act on.
 */
public final class LaunchMaker {
  private static final int KEY_BYTES = 16;

  private final LaunchSite site;
  private final Pythons pythons;
  private final OutputFolders outputs;
  private final RunFabrics fabrics;
  private final SecureRandom random = new SecureRandom();

  /**
   * A request, with what it leaves open taken from the run it repeats.
   *
   * @param variables of {@code --env}
   */
  public record ResolvedRun(
      List<String> words,
      RunWords parsed,
      RunRecord.Options options,
      Map<String, String> variables,
      Place place,
      LaunchInput input,
      boolean isQueued,
      RunRequest.NcclLog log) {
    /** The same with files of its own. */
    public ResolvedRun fromSnapshot() {
      return new ResolvedRun(
          words, parsed, options.fromSnapshot(), variables, place, input, isQueued, log);
    }

    /** Whether it runs files of its generation that are in the workspace. */
    public boolean usesWorkspace() {
      return parsed.kind() == RunKind.PROGRAM && !options.ranks().fromSnapshot();
    }

    /** Those named for this run; a word before the command is nearer to it than an option. */
    Map<String, String> ownVariables() {
      var own = new TreeMap<>(variables);
      own.putAll(parsed.variables());
      return own;
    }
  }

  /**
   * Where it runs, on this machine.
   *
   * @param folder where the client stands
   * @param relative the same below the workspace's root, empty: the root itself
   * @param script when the program is one of the workspace
   * @param home the user's
   */
  public record Place(Path folder, String relative, Optional<Path> script, String home) {}

  /**
   * How it will run.
   *
   * @param pythons those of all nodes of the session; empty if the nodes were not asked
   */
  public record ModeAndPythons(LaunchPlan.Mode mode, List<PythonFacts> pythons) {}

  public LaunchMaker(LaunchSite site, Pythons pythons, OutputFolders outputs, RunFabrics fabrics) {
    this.site = site;
    this.pythons = pythons;
    this.outputs = outputs;
    this.fabrics = fabrics;
  }

  public ResolvedRun resolve(RunRequest request, LaunchInput input, Optional<RunRecord> repeated) {
    RunRequest.Command command = request.command();
    List<String> words = repeated.map(RunRecord::words).orElse(command.words());
    var asked =
        new RunRecord.Options(
            request.claim(),
            command.python(),
            request.ranks(),
            command.variables().keySet().stream().sorted().toList());
    RunRecord.Options options =
        repeated
            .filter(_ -> asked.isEmpty())
            .map(last -> last.options().with(asked.variables()))
            .orElse(asked);
    boolean isOfBefore = command.at().isPresent();
    if (isOfBefore || asked.ranks().fromSnapshot()) {
      options = options.fromSnapshot();
    }
    Path folder =
        repeated.map(last -> site.root().resolve(last.asked().folder())).orElse(command.folder());
    Path inside = site.inside(folder);
    RunWords parsed = RunWords.of(request.kind(), words);
    new RankCheck(options.ranks()).requireRanks(parsed);
    // Of other files than the present ones nothing is known here.
    Optional<Path> script =
        isOfBefore ? Optional.empty() : Scripts.find(parsed, site.root(), inside);
    if (!isOfBefore) {
      script.ifPresent(path -> Scripts.requireThere(path, inside));
      BatchBody.check(parsed, script);
    }
    var place =
        new Place(
            inside,
            site.root().relativize(inside).toString(),
            script,
            command.environment().getOrDefault("HOME", ""));
    return new ResolvedRun(
        words,
        parsed,
        options,
        command.variables(),
        place,
        input,
        request.claim().waits(),
        request.log());
  }

  /** The values of {@code --env} are not kept, because they may be secrets. */
  public static void sayNotRepeated(RunRecord last, RunRequest request, Talk talk) {
    List<String> missing =
        last.options().variables().stream()
            .filter(name -> !request.command().variables().containsKey(name))
            .toList();
    if (!missing.isEmpty()) {
      talk.say(
          "run "
              + last.number()
              + " had --env "
              + String.join(", ", missing)
              + ", which is not repeated; give it again if this run needs it");
    }
  }

  public ModeAndPythons decide(ResolvedRun run, Talk talk) throws InterruptedException {
    if (run.parsed().startsRanks()) {
      fabrics.prepare();
    }
    ModeAndPythons decided;
    try (Talk.Step _ = talk.phase(Stage.PYTHON, "looking for Python on the nodes")) {
      decided = decidedNow(run, talk);
    }
    if (run.parsed().startsRanks()) {
      try (Talk.Step _ = talk.phase(Stage.NETWORK, "asking the nodes for their network")) {
        fabrics.await();
      }
    }
    return decided;
  }

  private ModeAndPythons decidedNow(ResolvedRun run, Talk talk) throws InterruptedException {
    if (isLookedUpThere(run)) {
      return new ModeAndPythons(LaunchPlan.Mode.COMMAND, List.of());
    }
    List<Pythons.Answer> answers =
        pythons.ask(site.nodes(), node -> choice(run, node), run.input().environment());
    return switch (run.parsed().form()) {
      case RunWords.Program program -> ranks(run, program, Pythons.required(answers), talk);
      case RunWords.Launched _ -> {
        List<PythonFacts> facts = Pythons.required(answers);
        Pythons.requireSame(site.nodes(), facts);
        requireTorch(run, facts);
        sayReplaced(run, talk);
        yield new ModeAndPythons(LaunchPlan.Mode.COMMAND, facts);
      }
      case RunWords.BatchScript _ ->
          new ModeAndPythons(LaunchPlan.Mode.COMMAND, Pythons.required(answers));
      case RunWords.Mpi _ -> {
        sayReplaced(run, talk);
        yield new ModeAndPythons(LaunchPlan.Mode.COMMAND, Pythons.required(answers));
      }
      case RunWords.RayProgram _ -> {
        List<PythonFacts> facts = Pythons.required(answers);
        Pythons.requireSame(site.nodes(), facts);
        requireRay(facts);
        yield new ModeAndPythons(LaunchPlan.Mode.COMMAND, facts);
      }
      case RunWords.Notebook _, RunWords.Command _, RunWords.Shell _ ->
          new ModeAndPythons(LaunchPlan.Mode.COMMAND, ifAll(answers));
    };
  }

  /**
   * A command needs its Python only so that the programs of its environment are found. The nodes do
   * that without starting it, unless something else must be known about it.
   */
  private boolean isLookedUpThere(ResolvedRun run) {
    return !run.parsed().startsRanks() && site.outputs().stream().allMatch(NodeFolder::isPlain);
  }

  private PythonChoice choice(ResolvedRun run, LaunchNode node) {
    return PythonChoice.of(
        run.options().python().or(run.parsed()::python),
        run.input().python(),
        site.root(),
        run.place().folder(),
        site.onThisMachine(),
        node.info().workspace());
  }

  /** A command may need no Python at all. */
  private static List<PythonFacts> ifAll(List<Pythons.Answer> answers) {
    var facts = new ArrayList<PythonFacts>();
    for (Pythons.Answer answer : answers) {
      switch (answer) {
        case Pythons.Answer.Found(var found) -> facts.add(found);
        case Pythons.Answer.None _, Pythons.Answer.Broken _ -> {
          return List.of();
        }
      }
    }
    return facts;
  }

  private ModeAndPythons ranks(
      ResolvedRun run, RunWords.Program program, List<PythonFacts> facts, Talk talk)
      throws InterruptedException {
    Pythons.requireSame(site.nodes(), facts);
    boolean hasTorch = facts.stream().allMatch(node -> node.torch().isPresent());
    boolean needsTorch =
        program.torchrun() || run.place().script().filter(Scripts::importsTorch).isPresent();
    if (needsTorch) {
      requireTorch(run, facts);
    }
    sayReplaced(run, talk);
    if (PythonChoice.lacksUvEnvironment(site.root(), run.place().folder(), site.onThisMachine())) {
      talk.say(
          "there is a uv.lock but no .venv; uv sync makes it. Until then the Python is "
              + facts.getFirst().executable());
    }
    if (run.options().ranks().warm() && isWarm(run, program, talk)) {
      return new ModeAndPythons(LaunchPlan.Mode.WARM, facts);
    }
    if (!hasTorch) {
      talk.say(
          "no torch in "
              + facts.getFirst().executable()
              + ": ranks get the same environment without torchrun");
      return new ModeAndPythons(LaunchPlan.Mode.RANKS, facts);
    }
    return new ModeAndPythons(LaunchPlan.Mode.TORCHRUN, facts);
  }

  /** All nodes alike: ranks with torchrun do not meet those without. */
  private boolean isWarm(ResolvedRun run, RunWords.Program program, Talk talk) {
    if (run.options().ranks().fromSnapshot()) {
      talk.say(
          "--warm starts ranks in the workspace, and this run has a snapshot: they start cold");
      return false;
    }
    if (!program.options().isEmpty()) {
      talk.say(
          "--warm starts ranks without torchrun, which "
              + program.options().getFirst()
              + " needs: they start cold");
      return false;
    }
    return true;
  }

  private void requireTorch(ResolvedRun run, List<PythonFacts> facts) throws InterruptedException {
    for (int i = 0; i < facts.size(); i++) {
      if (facts.get(i).torch().isEmpty()) {
        List<String> others =
            pythons.withTorch(site.nodes().get(i), facts.get(i), run.input().environment());
        throw new GpushException(new LaunchFailure.NoTorch(facts.get(i).executable(), others));
      }
    }
  }

  private static void requireRay(List<PythonFacts> facts) {
    for (PythonFacts each : facts) {
      if (!each.has(RunWords.RAY)) {
        throw new GpushException(new LaunchFailure.NoPackage(each.executable(), RunWords.RAY));
      }
    }
  }

  private static void sayReplaced(ResolvedRun run, Talk talk) {
    if (!run.parsed().replaced().isEmpty()) {
      talk.say(
          "instead of "
              + String.join(" ", run.parsed().replaced())
              + ": the nodes and ranks of this session");
    }
  }

  private Optional<RankFabric> fabric(
      ResolvedRun run, SlotPlan slots, List<PythonFacts> pythonsOfClaims, Talk talk)
      throws InterruptedException {
    if (!run.parsed().startsRanks()) {
      return Optional.empty();
    }
    var members = new ArrayList<RunFabrics.Member>();
    for (int i = 0; i < slots.claims().size(); i++) {
      members.add(
          new RunFabrics.Member(
              slots.claims().get(i).node(),
              i < pythonsOfClaims.size() ? Optional.of(pythonsOfClaims.get(i)) : Optional.empty()));
    }
    var variables = new ArrayList<>(run.input().variables());
    run.variables().forEach((name, value) -> variables.add(new UserVariable(name, value, "--env")));
    run.parsed()
        .variables()
        .forEach((name, value) -> variables.add(new UserVariable(name, value, "the command")));
    return Optional.of(fabrics.plan(members, variables, talk));
  }

  public LaunchPlan plan(ResolvedRun run, ModeAndPythons decided, SlotPlan slots, Talk talk)
      throws InterruptedException {
    var check = new RankCheck(run.options().ranks());
    if (!(run.parsed().form() instanceof RunWords.BatchScript)) {
      check.requireGpus(site.infos(), slots);
    }
    RunRequest.Ranks ranks = check.of(run.parsed(), site.infos(), slots);
    var nodes = new ArrayList<NodeInfo>();
    var facts = new ArrayList<PythonFacts>();
    var activated = new ArrayList<PythonChoice>();
    for (SlotPlan.Claim claim : slots.claims()) {
      nodes.add(site.nodes().get(claim.node()).info());
      activated.add(choice(run, site.nodes().get(claim.node())));
      if (!decided.pythons().isEmpty()) {
        facts.add(decided.pythons().get(claim.node()));
      }
    }
    var plan =
        new LaunchPlan(
            site,
            nodes,
            slots,
            new LaunchPlan.Payload(
                run.parsed(),
                decided.mode(),
                run.place().relative(),
                run.input().environment(),
                run.ownVariables(),
                ranks,
                run.input().ending(),
                run.log()),
            new LaunchPlan.Findings(
                facts,
                activated,
                outputs.of(slots.nodes(), facts),
                fabric(run, slots, facts, talk),
                RandomHex.of(random, KEY_BYTES)));
    plan.launcher().ifPresent(LauncherCommand::check);
    return plan;
  }

  public RunRecord record(LaunchPlan plan, ResolvedRun run, int number, Instant now) {
    long generation = run.input().generation();
    return new RunRecord(
        number,
        site.name().text(),
        new RunRecord.Asked(
            run.parsed().kind(), run.words(), run.options(), run.place().relative()),
        RunView.Progress.starting(now),
        plan.parts(),
        new RunRecord.Launched(
            generation,
            plan.payload().mode().word(),
            plan.executable(),
            plan.header(number, generation, run.place().home()),
            new RunRecord.Given(plan.environmentMarks(), plan.fabric())));
  }

  /** What a node's refusal means to the person who typed the words. */
  public GpushException explained(GpushException refused, ResolvedRun run) {
    return refused.failure() instanceof AgentFailure.Refused(_, var code, var located)
        ? new GpushException(new Refusals(site, run).of(code, located), refused)
        : refused;
  }
}
