package dev.gpush.launch.plan;

import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.python.OutputFolders;
import dev.gpush.launch.python.PythonChoice;
import dev.gpush.launch.python.PythonFacts;
import dev.gpush.launch.python.Pythons;
import dev.gpush.launch.run.RunRecord;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * From a request to a plan: which words, which Python, which mode; and from a refusal to a failure
 * that says what to do.
 */
public final class LaunchMaker {
  /** What an agent announces that looks for an environment by itself. */
  private static final String ACTIVATES = "activate";

  private final LaunchSite site;
  private final Pythons pythons;
  private final OutputFolders outputs;

  /**
   * A request, with what it leaves open taken from the run it repeats.
   *
   * @param folder where the client stands, on this machine
   * @param relative the same below the workspace's root, empty: the root itself
   * @param script on this machine, when the program is one of the workspace
   */
  public record Wish(
      List<String> words,
      RunWords parsed,
      RunRecord.Options options,
      Path folder,
      String relative,
      Optional<Path> script,
      LaunchInput input,
      String home,
      boolean isQueued) {
    public SlotPlan.Ask ask() {
      return new SlotPlan.Ask(options.nodes(), options.gpus(), options.on());
    }
  }

  /**
   * How it will run.
   *
   * @param pythons those of all nodes of the session; empty where nobody has asked for them
   * @param activated whose environment each node looks up and activates by itself, in that case
   */
  public record Decided(
      LaunchPlan.Mode mode, List<PythonFacts> pythons, List<PythonChoice> activated) {
    Decided(LaunchPlan.Mode mode, List<PythonFacts> pythons) {
      this(mode, pythons, List.of());
    }
  }

  public LaunchMaker(LaunchSite site, Pythons pythons, OutputFolders outputs) {
    this.site = site;
    this.pythons = pythons;
    this.outputs = outputs;
  }

  public List<NodeInfo> infos() {
    return site.nodes().stream().map(LaunchNode::info).toList();
  }

  public Wish wish(RunRequest request, LaunchInput input, Optional<RunRecord> repeated) {
    RunRequest.Command command = request.command();
    RunRequest.Claim claim = request.claim();
    List<String> words = repeated.map(RunRecord::words).orElse(command.words());
    var asked =
        new RunRecord.Options(
            claim.nodes(), claim.gpus().map(GpuRequest::count), claim.on(), command.python());
    RunRecord.Options options =
        repeated.filter(_ -> asked.isEmpty()).map(RunRecord::options).orElse(asked);
    Path folder = repeated.map(last -> site.root().resolve(last.folder())).orElse(command.folder());
    Path inside = folder.startsWith(site.root()) ? folder : site.root();
    RunWords parsed = RunWords.parse(words);
    Optional<Path> script = Scripts.find(parsed, site.root(), inside);
    script.ifPresent(path -> Scripts.requireThere(path, inside));
    return new Wish(
        words,
        parsed,
        options,
        inside,
        site.root().relativize(inside).toString(),
        script,
        input,
        command.environment().getOrDefault("HOME", ""),
        claim.waits());
  }

  public Decided decide(Wish wish, Talk talk) throws InterruptedException {
    if (isLookedUpThere(wish)) {
      return new Decided(
          LaunchPlan.Mode.COMMAND,
          List.of(),
          site.nodes().stream().map(node -> choice(wish, node)).toList());
    }
    List<Pythons.Answer> answers =
        pythons.ask(site.nodes(), node -> choice(wish, node), wish.input().environment());
    return switch (wish.parsed().form()) {
      case RunWords.Program program -> ranks(wish, program, Pythons.required(answers), talk);
      case RunWords.Accelerate _ -> {
        List<PythonFacts> facts = Pythons.required(answers);
        Pythons.requireSame(site.nodes(), facts);
        requireTorch(wish, facts);
        sayReplaced(wish, talk);
        yield new Decided(LaunchPlan.Mode.COMMAND, facts);
      }
      case RunWords.Command _, RunWords.Shell _ ->
          new Decided(LaunchPlan.Mode.COMMAND, ifAll(answers));
    };
  }

  /**
   * A command needs its Python for one thing: that the programs of its environment are found. The
   * nodes see to that without starting it, unless something else has to be known of them.
   */
  private boolean isLookedUpThere(Wish wish) {
    boolean isCommand =
        switch (wish.parsed().form()) {
          case RunWords.Command _, RunWords.Shell _ -> true;
          case RunWords.Program _, RunWords.Accelerate _ -> false;
        };
    return isCommand
        && site.outputs().stream().allMatch(NodeFolder::isPlain)
        && site.nodes().stream().allMatch(node -> node.calls().can(ACTIVATES));
  }

  private PythonChoice choice(Wish wish, LaunchNode node) {
    Optional<String> asked =
        wish.options().python().or(wish.parsed()::python).or(wish.input()::python);
    return PythonChoice.of(
        asked, site.root(), wish.folder(), site.onThisMachine(), node.info().workspace());
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

  private Decided ranks(Wish wish, RunWords.Program program, List<PythonFacts> facts, Talk talk)
      throws InterruptedException {
    Pythons.requireSame(site.nodes(), facts);
    boolean hasTorch = facts.stream().allMatch(node -> node.torch().isPresent());
    boolean needsTorch = program.torchrun() || wish.script().filter(TorchImport::isIn).isPresent();
    if (needsTorch) {
      requireTorch(wish, facts);
    }
    sayReplaced(wish, talk);
    if (PythonChoice.lacksUvEnvironment(site.root(), wish.folder(), site.onThisMachine())) {
      talk.say(
          "uv.lock is there, but no .venv: uv sync makes it. Until then it is "
              + facts.getFirst().executable());
    }
    if (!hasTorch) {
      talk.say(
          "no torch in "
              + facts.getFirst().executable()
              + ": ranks get the same environment without torchrun");
      return new Decided(LaunchPlan.Mode.RANKS, facts);
    }
    return new Decided(LaunchPlan.Mode.TORCHRUN, facts);
  }

  private void requireTorch(Wish wish, List<PythonFacts> facts) throws InterruptedException {
    for (int i = 0; i < facts.size(); i++) {
      if (facts.get(i).torch().isEmpty()) {
        List<String> others =
            pythons.withTorch(site.nodes().get(i), facts.get(i), wish.input().environment());
        throw new GpushException(new LaunchFailure.NoTorch(facts.get(i).executable(), others));
      }
    }
  }

  private static void sayReplaced(Wish wish, Talk talk) {
    if (!wish.parsed().replaced().isEmpty()) {
      talk.say(
          "instead of "
              + String.join(" ", wish.parsed().replaced())
              + ": the nodes and ranks of this session");
    }
  }

  public LaunchPlan plan(Wish wish, Decided decided, SlotPlan slots) throws InterruptedException {
    var nodes = new ArrayList<NodeInfo>();
    var facts = new ArrayList<PythonFacts>();
    var activated = new ArrayList<PythonChoice>();
    for (SlotPlan.Claim claim : slots.claims()) {
      nodes.add(site.nodes().get(claim.node()).info());
      if (!decided.activated().isEmpty()) {
        activated.add(decided.activated().get(claim.node()));
      }
      if (!decided.pythons().isEmpty()) {
        facts.add(decided.pythons().get(claim.node()));
      }
    }
    return new LaunchPlan(
        site,
        nodes,
        slots,
        wish.parsed(),
        decided.mode(),
        facts,
        outputs.of(slots.claims().stream().map(SlotPlan.Claim::node).toList(), facts),
        activated,
        wish.relative(),
        wish.input().environment(),
        wish.input().ending());
  }

  public RunRecord record(LaunchPlan plan, Wish wish, int number, Instant now) {
    long generation = wish.input().generation();
    return new RunRecord(
        number,
        site.name().text(),
        new RunRecord.Asked(wish.words(), wish.options(), wish.relative()),
        RunRecord.Progress.starting(now),
        plan.parts(),
        new RunRecord.Launched(
            generation,
            plan.mode().word(),
            plan.pythons().isEmpty() ? "" : plan.pythons().getFirst().executable(),
            plan.header(number, generation, wish.home())));
  }

  /** What a node's refusal means to the person who typed the words. */
  public GpushException explained(GpushException refused, Wish wish) {
    return refused.failure() instanceof AgentFailure.Refused(_, var code, var located)
        ? new GpushException(explained(code, located, wish), refused)
        : refused;
  }

  private LaunchFailure explained(String code, Json located, Wish wish) {
    int node = located.number("node").map(Math::toIntExact).orElse(0);
    Json facts = located.object("facts");
    return switch (code) {
      case "busy" ->
          new LaunchFailure.NoFreeSlots(
              wish.ask().words(), facts.number("run").map(run -> "run " + run).stream().toList());
      case "not-found" -> notFound(node, facts, wish);
      default -> new LaunchFailure.Refused(node, code, facts.write());
    };
  }

  private LaunchFailure notFound(int node, Json facts, Wish wish) {
    String path = facts.text("path").orElse("");
    return switch (facts.text("what").orElse("")) {
      case "script" ->
          wish.script()
              .flatMap(script -> wish.input().ignored().apply(site.root().relativize(script)))
              .<LaunchFailure>map(pattern -> new LaunchFailure.ScriptIgnored(path, pattern))
              .orElseGet(
                  () ->
                      new LaunchFailure.NoSuchScript(
                          path, "node " + node + ", " + folderThere(node, wish), List.of()));
      case "python" -> new LaunchFailure.NoPython(node, List.of(path));
      default -> new LaunchFailure.Refused(node, "not-found", path);
    };
  }

  private String folderThere(int node, Wish wish) {
    String workspace = site.nodes().get(node).info().workspace();
    return wish.relative().isEmpty() ? workspace : workspace + "/" + wish.relative();
  }
}
