package dev.gpush.launch.plan;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.file.Sha256;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunRequest.NcclLog;
import dev.gpush.core.text.Phrase;
import dev.gpush.launch.fabric.gang.RankFabric;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.PythonChoice;
import dev.gpush.launch.node.PythonFacts;
import dev.gpush.launch.run.RunRecord;
import dev.gpush.launch.words.LauncherCommand;
import dev.gpush.launch.words.RunWords;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What each node starts: the {@code spec} of docs/technical/runs.md. Pure: the run's number and its
 * rendezvous port are given when it makes specs.
 *
 * @param nodes of the run, in the order of their ranks
 * @param slots what each of them claims
 */
public record LaunchPlan(
    LaunchSite site, List<NodeInfo> nodes, SlotPlan slots, Payload payload, Findings findings) {
  /**
   * This much of the session's id distinguishes its outputs from those of another session with its
   * name.
   */
  private static final int SHORT_ID = 6;

  /** GPUDirect-TCPX and TCPXO: the interfaces count their packets as they count those of TCP. */
  private static final String OVER_IP = "TCPX";

  /** What it sets for NCCL's log; a provider's script must not take it back. */
  private static final List<String> LOG_VARIABLES =
      List.of("NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS");

  /** Bytes: values of one variable that differ have the same mark once in four billion times. */
  private static final int MARK = 4;

  private static final String LOOPBACK = "127.0.0.1";

  /**
   * What runs, the same on all nodes.
   *
   * @param folder relative to the workspace's root
   * @param environment of every process of the session
   * @param variables those named for this run, by option or before its words
   */
  public record Payload(
      RunWords words,
      Mode mode,
      String folder,
      Map<String, String> environment,
      Map<String, String> variables,
      RunRequest.Ranks ranks,
      RunEnding ending,
      NcclLog log) {
    public Payload {
      environment = Map.copyOf(environment);
      variables = Map.copyOf(variables);
    }
  }

  /**
   * What was found out about the nodes, in their order.
   *
   * @param pythons empty where the form does without
   * @param activated the Pythons to try, of which these nodes activate the first that they have
   * @param outputs the configured folder on each of them; empty: beside the workspace
   * @param fabric empty where the form starts no ranks
   * @param key that only the nodes of this run know; used where a batch script of the first node
   *     starts processes on the others
   */
  public record Findings(
      List<PythonFacts> pythons,
      List<PythonChoice> activated,
      List<String> outputs,
      Optional<RankFabric> fabric,
      String key) {
    public Findings {
      pythons = List.copyOf(pythons);
      activated = List.copyOf(activated);
      outputs = List.copyOf(outputs);
    }
  }

  /** How a supervisor starts it. */
  enum Mode {
    RANKS("ranks"),
    TORCHRUN("torchrun"),
    /** Ranks forked from interpreters on the nodes, with what torchrun would tell them. */
    WARM("ranks"),
    COMMAND("command");

    private final String word;

    Mode(String word) {
      this.word = word;
    }

    String word() {
      return word;
    }
  }

  public LaunchPlan {
    nodes = List.copyOf(nodes);
    if (nodes.size() != slots.claims().size()) {
      throw new IllegalArgumentException("claims of other nodes");
    }
  }

  /** Ranks of a Python program, or one process per node. */
  int ranksOn(int index) {
    return payload.mode() == Mode.COMMAND ? 1 : started(index);
  }

  /** Also those that a launcher of its own starts there. */
  private int started(int index) {
    return payload.ranks().perNode().orElse(slots.claims().get(index).slots().size());
  }

  /** Which Python node 0 takes; empty where the form does without. */
  String executable() {
    return pythonOf(0).map(PythonFacts::executable).orElse("");
  }

  int world() {
    return firstRank(nodes.size());
  }

  private int firstRank(int index) {
    int first = 0;
    for (int before = 0; before < index; before++) {
      first += ranksOn(before);
    }
    return first;
  }

  public List<RunRecord.Part> parts() {
    var parts = new ArrayList<RunRecord.Part>();
    for (int i = 0; i < nodes.size(); i++) {
      SlotPlan.Claim claim = slots.claims().get(i);
      parts.add(new RunRecord.Part(claim.node(), claim.slots(), firstRank(i), ranksOn(i), 0));
    }
    return parts;
  }

  /**
   * One for each node.
   *
   * @param restart how often the gateway has started the run again
   */
  public List<Json.Obj> specs(int run, int port, int restart, Json.Obj about) {
    var specs = new ArrayList<Json.Obj>();
    for (int i = 0; i < nodes.size(); i++) {
      specs.add(spec(run, i, port, restart).with("about", about));
    }
    return specs;
  }

  private Json.Obj spec(int run, int index, int port, int restart) {
    NodeInfo node = nodes.get(index);
    SlotPlan.Claim claim = slots.claims().get(index);
    Optional<PythonFacts> python = pythonOf(index);
    var fields = new LinkedHashMap<String, Object>();
    fields.put("mode", payload.mode().word());
    fields.putAll(program(index, port, python));
    String folder = payload.folder();
    fields.put("cwd", folder.isEmpty() ? node.workspace() : node.workspace() + "/" + folder);
    var variables = new TreeMap<>(environmentOf(node, python));
    if (payload.words().startsFromNodeZero()) {
      variables.put(FirstNodeCommand.KEY, findings.key());
    }
    if (restart > 0) {
      variables.put("GPUSH_RESTART", Integer.toString(restart));
    }
    fields.put("env", variables);
    if (index < findings.activated().size() && !choosesByItself()) {
      fields.put("activate", findings.activated().get(index).candidates());
    }
    fields.put("own", payload.variables().keySet().stream().sorted().toList());
    fields.put("defaults", defaults(index, node));
    source(node.index()).ifPresent(source -> fields.put("source", source));
    fields.put("nodes", nodes.size());
    fields.put("node_rank", index);
    fields.put("procs", ranksOn(index));
    fields.put("first_rank", firstRank(index));
    fields.put("world", world());
    fields.put("master", Json.object("addr", masterAddress(), "port", port));
    fields.put("slots", claim.slots());
    // On a node that was requested without GPUs none may be used, even if the machine has some.
    fields.put("visible", node.hasGpus() ? String.join(",", claim.slots()) : "");
    fields.put("outputs", outputs(run, index));
    fields.put("stop_grace_s", payload.ending().grace().toSeconds());
    if (payload.ranks().fromSnapshot()) {
      fields.put("snapshot", Json.object("again", payload.ranks().restarts() > 0));
    }
    if (payload.mode() == Mode.WARM) {
      boolean hasTorch = findings.pythons().stream().allMatch(facts -> facts.torch().isPresent());
      fields.put("warm", Json.object("torch", hasTorch));
    }
    transport().ifPresent(how -> fields.put("transport", how));
    payload.ending().warning().ifPresent(wanted -> fields.put("warn", wanted.json()));
    return (Json.Obj) Json.of(fields);
  }

  /** How the nodes find out which network is used; empty where there is none between GPUs. */
  private Optional<String> transport() {
    if (payload.log() == NcclLog.FILES) {
      return Optional.of("log");
    }
    boolean isCounted =
        findings
            .fabric()
            .filter(RankFabric::isOfSeveralMachines)
            .filter(fabric -> !fabric.plan().fabric().contains(OVER_IP))
            .isPresent();
    return isCounted ? Optional.of("counters") : Optional.empty();
  }

  private Map<String, Object> program(int index, int port, Optional<PythonFacts> python) {
    return switch (payload.words().form()) {
      case RunWords.Program(var program, _, var options) ->
          Map.of(
              "python",
              interpreter(python),
              "program",
              inWorkspace(program, index),
              "torchrun",
              payload.mode() == Mode.TORCHRUN ? options : List.of());
      case RunWords.Launched _ ->
          Map.of("argv", launcher().orElseThrow().argv(interpreter(python), index, port));
      case RunWords.BatchScript(var words) ->
          Map.of(
              "argv",
              FirstNodeCommand.batch(interpreter(python), inWorkspace(words, 0), started(0)));
      case RunWords.Mpi(var command, _) ->
          Map.of(
              "argv",
              FirstNodeCommand.mpi(interpreter(python), command, ofNodes(this::started)),
              "mpi",
              true);
      case RunWords.RayProgram(var words) ->
          Map.of(
              "argv",
              FirstNodeCommand.ray(
                  interpreter(python),
                  inWorkspace(words, 0),
                  ofNodes(this::cpus),
                  ofNodes(node -> nodes.get(node).hasGpus() ? started(node) : 0)));
      case RunWords.Command(var argv) -> Map.of("argv", argv);
      case RunWords.Notebook(var argv) -> Map.of("argv", argv, "kind", RunKind.NOTEBOOK.word());
      case RunWords.Shell(var text) -> Map.of("command", text);
    };
  }

  private List<Integer> ofNodes(IntUnaryOperator count) {
    return IntStream.range(0, nodes.size()).map(count).boxed().toList();
  }

  /** Nodes that are one machine share it. */
  private int cpus(int index) {
    int sharing = site.onThisMachine() ? nodes.size() : 1;
    return Math.max(1, nodes.get(index).cpus() / sharing);
  }

  /** How often the gateway starts all nodes again after a failure. */
  public int restarts() {
    return payload.ranks().restarts();
  }

  private static String interpreter(Optional<PythonFacts> python) {
    return python.map(PythonFacts::executable).orElse("python3");
  }

  /** Replaces a script's path on this machine by its path on the node. */
  private List<String> inWorkspace(List<String> program, int index) {
    String root = site.root() + "/";
    if (site.onThisMachine() && nodes.get(index).workspace().equals(site.root().toString())) {
      return program;
    }
    int at = scriptAt(program);
    if (at < 0 || !program.get(at).startsWith(root)) {
      return program;
    }
    var moved = new ArrayList<>(program);
    moved.set(at, nodes.get(index).workspace() + "/" + program.get(at).substring(root.length()));
    return moved;
  }

  /** The index of the script in the words after {@code python -u}; -1: it is a module. */
  static int scriptAt(List<String> program) {
    for (int at = 0; at < program.size(); at++) {
      String word = program.get(at);
      if (word.equals("-m")) {
        return -1;
      }
      if (word.equals("-X") || word.equals("-W")) {
        at++;
      } else if (!word.startsWith("-")) {
        return at;
      }
    }
    return -1;
  }

  /** What a launcher of its own starts; empty for other forms. */
  Optional<LauncherCommand> launcher() {
    if (!(payload.words().form() instanceof RunWords.Launched launched)) {
      return Optional.empty();
    }
    var devices = new ArrayList<List<String>>();
    for (int node = 0; node < nodes.size(); node++) {
      List<String> names = slots.claims().get(node).slots();
      int count = started(node);
      devices.add(
          count <= names.size() && nodes.get(node).hasGpus()
              ? names.subList(0, count)
              : IntStream.range(0, count).mapToObj(Integer::toString).toList());
    }
    boolean hasGpus = nodes.stream().anyMatch(NodeInfo::hasGpus);
    return Optional.of(new LauncherCommand(launched, devices, hasGpus, masterAddress()));
  }

  private String masterAddress() {
    String address = nodes.getFirst().address();
    return nodes.size() == 1 || site.onThisMachine() || address.isEmpty() ? LOOPBACK : address;
  }

  /** Whether variables before the command choose the programs that are found. */
  private boolean choosesByItself() {
    Map<String, String> chosen = payload.variables();
    return chosen.containsKey("PATH") || chosen.containsKey("VIRTUAL_ENV");
  }

  private Map<String, String> environmentOf(NodeInfo node, Optional<PythonFacts> python) {
    var variables = new LinkedHashMap<>(payload.environment());
    python.ifPresent(facts -> variables.putAll(facts.activation()));
    variables.putAll(payload.variables());
    variables.put("GPUSH_SESSION", site.name().text());
    variables.put("GPUSH_WORKSPACE", node.workspace());
    variables.put(
        "GPUSH_NODE_ADDRS", nodes.stream().map(NodeInfo::address).collect(Collectors.joining(",")));
    return variables;
  }

  /**
   * The CPUs shared among the ranks: without it, each library takes all CPUs for each rank, and
   * torchrun prints a warning and takes one.
   */
  private Map<String, String> defaults(int index, NodeInfo node) {
    var defaults = new TreeMap<String, String>();
    int sharing = site.onThisMachine() ? world() : ranksOn(index);
    if (payload.mode() != Mode.COMMAND && sharing > 1) {
      defaults.put("OMP_NUM_THREADS", Integer.toString(Math.max(1, node.cpus() / sharing)));
    }
    // Below what the user and the site set, also where they have set it since the facts were read.
    findings.fabric().ifPresent(fabric -> defaults.putAll(fabric.variables(node.index())));
    return defaults;
  }

  /** The provider's scripts that a shell reads before each rank. */
  private Optional<Json> source(int node) {
    return findings
        .fabric()
        .filter(fabric -> !fabric.scripts(node).isEmpty())
        .map(
            fabric -> {
              var user = new TreeSet<>(payload.environment().keySet());
              user.addAll(payload.variables().keySet());
              if (payload.log() == NcclLog.FILES) {
                user.addAll(LOG_VARIABLES);
              }
              return Json.object("paths", fabric.scripts(node), "keep", fabric.kept(node, user));
            });
  }

  public Optional<FabricPlan> fabric() {
    return findings.fabric().map(RankFabric::plan);
  }

  /**
   * The variables that we set for the first node, each with a mark of its value: enough to see that
   * two runs differ, and no secret.
   */
  Map<String, String> environmentMarks() {
    var variables = new TreeMap<>(defaults(0, nodes.getFirst()));
    variables.putAll(environmentOf(nodes.getFirst(), pythonOf(0)));
    // With the id, marks of different sessions say nothing about each other.
    variables.replaceAll((name, value) -> Sha256.hex(site.id() + "\0" + name + "\0" + value, MARK));
    return variables;
  }

  private String outputs(int run, int index) {
    String folder = "run-" + run;
    if (findings.outputs().isEmpty()) {
      return nodes.get(index).state() + "/outputs/" + folder;
    }
    String session =
        site.name() + "-" + site.id().substring(0, Math.min(SHORT_ID, site.id().length()));
    return findings.outputs().get(index) + "/" + session + "/" + folder;
  }

  private Optional<PythonFacts> pythonOf(int index) {
    List<PythonFacts> pythons = findings.pythons();
    return index < pythons.size() ? Optional.of(pythons.get(index)) : Optional.empty();
  }

  /**
   * "run 7 · 16 ranks · ~/envs/llm python 3.11 torch 2.8 · ~/proj/exp · G42": the parts that are
   * known.
   */
  public String header(int run, long generation, String home) {
    var parts = new ArrayList<String>();
    parts.add("run " + run);
    parts.add(size());
    boolean usesPython = payload.words().startsRanks();
    pythonOf(0).filter(_ -> usesPython).ifPresent(facts -> parts.add(facts.words()));
    String folder = payload.folder();
    String place = site.root() + (folder.isEmpty() ? "" : "/" + folder);
    parts.add(
        !home.isEmpty() && place.startsWith(home + "/")
            ? "~" + place.substring(home.length())
            : place);
    if (generation > 0) {
      parts.add("G" + generation);
    }
    parts.addAll(payload.ranks().words());
    findings
        .fabric()
        .filter(RankFabric::isOfSeveralMachines)
        .map(RankFabric::plan)
        .filter(FabricPlan::isKnown)
        .ifPresent(plan -> parts.add(plan.fabric()));
    return String.join(" · ", parts);
  }

  /** "16 ranks", "2 nodes", "16 ranks by accelerate". */
  private String size() {
    String plain =
        payload.mode() == Mode.COMMAND
            ? Phrase.counted(nodes.size(), "node")
            : Phrase.counted(world(), "rank");
    return switch (payload.words().form()) {
      case RunWords.Launched(var launcher, _, _) ->
          Phrase.counted(launcher().orElseThrow().ranks(), "rank") + " by " + launcher.word();
      case RunWords.Mpi(var command, _) ->
          Phrase.counted(
                  command
                      .ranks()
                      .orElseGet(
                          () -> ofNodes(this::started).stream().mapToInt(each -> each).sum()),
                  "rank")
              + " by "
              + command.launcher();
      case RunWords.RayProgram _ -> plain + " by ray";
      case RunWords.Program _,
          RunWords.BatchScript _,
          RunWords.Notebook _,
          RunWords.Command _,
          RunWords.Shell _ ->
          plain;
    };
  }
}
