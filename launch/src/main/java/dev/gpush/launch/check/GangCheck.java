package dev.gpush.launch.check;

import dev.gpush.core.fabric.BusRate;
import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.CheckStep;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.FabricRate;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Phrase;
import dev.gpush.launch.fabric.facts.GpuFacts;
import dev.gpush.launch.fabric.gang.FabricGang;
import dev.gpush.launch.fabric.gang.RunFabrics;
import dev.gpush.launch.fabric.gang.RunFabrics.Observed;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.node.PythonChoice;
import dev.gpush.launch.node.PythonFacts;
import dev.gpush.launch.node.Pythons;
import dev.gpush.launch.plan.LaunchInput;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Checks the nodes of one session. Thread-safe; nothing that it starts is left. */
public final class GangCheck {
  /** A Python on a cold network file system; a check says that it is slow, and goes on. */
  private static final Duration PYTHON_LIMIT = Duration.ofSeconds(10);

  private static final String LOOPBACK = "127.0.0.1";

  private final LaunchSite site;
  private final Pythons pythons;
  private final RunFabrics fabrics;
  private final Tasks tasks;

  /**
   * What is checked.
   *
   * @param environment variables over those of the input
   */
  public record Subject(
      RunRequest.Command command, LaunchInput input, List<UserVariable> environment) {
    public Subject {
      environment = List.copyOf(environment);
    }

    List<UserVariable> variables() {
      var all = new ArrayList<>(input.variables());
      all.addAll(environment);
      return all;
    }

    Map<String, String> environmentOfRanks() {
      var all = new TreeMap<>(input.environment());
      environment.forEach(each -> all.put(each.name(), each.value()));
      return all;
    }
  }

  /** What the nodes said, and what is wrong with it. */
  record Seen(
      Observed observed, FabricGang gang, List<NodePython> pythons, List<FabricFinding> findings) {
    FabricPlan plan() {
      return observed.fabric().plan();
    }
  }

  public GangCheck(LaunchSite site, Pythons pythons, RunFabrics fabrics, Tasks tasks) {
    this.site = site;
    this.pythons = pythons;
    this.fabrics = fabrics;
    this.tasks = tasks;
  }

  /** The plan that ranks on all nodes would get now. */
  public FabricPlan plan(Subject subject) throws InterruptedException {
    return observed(subject, pythons(subject)).fabric().plan();
  }

  private Observed observed(Subject subject, List<NodePython> found) throws InterruptedException {
    return fabrics.observe(members(found), subject.variables());
  }

  /**
   * All that the level has.
   *
   * @param busy runs that are in progress on the nodes
   */
  public CheckReport check(Subject subject, CheckLevel level, Collection<Integer> busy, Talk talk)
      throws InterruptedException {
    var steps = new ArrayList<CheckStep>();
    Seen seen;
    try (Talk.Step _ = talk.step("asking the nodes")) {
      List<NodePython> found = pythons(subject);
      seen = seen(observed(subject, found), found, subject);
    }
    var findings = new ArrayList<>(seen.findings());
    String facts = nodes() + (site.onThisMachine() ? ", one machine" : ", compared");
    steps.add(step("facts", findings, facts));
    if (level.includes(CheckLevel.CONNECTIONS)) {
      connections(seen, subject, steps, findings, talk);
    }
    List<BusRate> rates = List.of();
    Optional<FabricRate> network = Optional.empty();
    if (level.includes(CheckLevel.COLLECTIVE)) {
      network = site.onThisMachine() ? Optional.empty() : seen.plan().rate();
      try (Talk.Step _ = talk.step("running a collective")) {
        rates = collective(seen, subject, new Judged(network, busy), steps, findings);
      }
    }
    return new CheckReport(
        level, seen.plan().gang(), hosts(), steps, findings, rates, network.map(FabricRate::gbits));
  }

  /** What the collective is judged by, and what keeps it from running. */
  private record Judged(Optional<FabricRate> network, Collection<Integer> busy) {}

  private List<BusRate> collective(
      Seen seen,
      Subject subject,
      Judged judged,
      List<CheckStep> steps,
      List<FabricFinding> findings)
      throws InterruptedException {
    List<PythonFacts> torches = torches(seen);
    Optional<String> hindrance = hindrance(torches, judged, findings);
    if (hindrance.isPresent()) {
      steps.add(new CheckStep("collective", CheckStep.Outcome.SKIPPED, hindrance.get()));
      if (findings.stream().noneMatch(FabricFinding::isRefusal)) {
        findings.add(
            new FabricFinding(
                Severity.REFUSED,
                "no-collective",
                NodeSet.of(List.of()),
                "the collective was not run: " + hindrance.get(),
                "how fast the nodes are together is not known",
                "gpush check --level 1 does without it"));
      }
      return List.of();
    }
    boolean usesGpus = usesGpus(seen, torches);
    List<Integer> ranks =
        site.nodes().stream().map(node -> usesGpus ? node.info().slots().size() : 1).toList();
    var order =
        new CollectiveCheck.Order(
            ranks.size() == 1 ? LOOPBACK : addresses(seen).getFirst().address(),
            ranks,
            usesGpus,
            torches,
            seen.observed().fabric(),
            subject.environmentOfRanks());
    List<CollectiveReply> replies = new CollectiveCheck(site, tasks).replies(order);
    var rule = new CollectiveRule(ranks, judged.network(), site.onThisMachine());
    List<FabricFinding> found = rule.findings(replies);
    int all = ranks.stream().mapToInt(count -> count).sum();
    String what = "all_reduce over " + (usesGpus ? "NCCL" : "gloo") + ", ";
    steps.add(step("collective", found, what + Phrase.counted(all, "rank")));
    findings.addAll(found);
    return rule.rates(replies);
  }

  /** Empty unless every node has torch. */
  private static List<PythonFacts> torches(Seen seen) {
    var torches = new ArrayList<PythonFacts>();
    for (NodePython python : seen.pythons()) {
      if (python instanceof NodePython.Known(var facts) && facts.torch().isPresent()) {
        torches.add(facts);
      }
    }
    return torches.size() == seen.pythons().size() ? torches : List.of();
  }

  /** Why no collective can run, or would say nothing. */
  private Optional<String> hindrance(
      List<PythonFacts> torches, Judged judged, List<FabricFinding> findings) {
    if (findings.stream().anyMatch(FabricFinding::isRefusal)) {
      return Optional.of("what failed before stops it");
    }
    if (!judged.busy().isEmpty()) {
      return Optional.of("run " + judged.busy().iterator().next() + " uses the nodes");
    }
    return torches.isEmpty()
        ? Optional.of("no torch in the Python of every node")
        : Optional.empty();
  }

  /** Torch for AMD calls its backend NCCL, too. */
  private boolean usesGpus(Seen seen, List<PythonFacts> torches) {
    boolean hasAll =
        site.nodes().stream()
            .allMatch(
                node ->
                    node.info().hasGpus()
                        && !node.info().slots().isEmpty()
                        && gpus(seen, node.info().index()).map(GpuFacts::count).orElse(0) > 0);
    return hasAll
        && torches.stream()
            .allMatch(
                facts -> facts.cuda().isPresent() || facts.torch().orElse("").contains("rocm"));
  }

  private void connections(
      Seen seen, Subject subject, List<CheckStep> steps, List<FabricFinding> findings, Talk talk)
      throws InterruptedException {
    try (Talk.Step _ = talk.step("starting CUDA")) {
      cuda(seen, subject, steps, findings);
    }
    if (site.nodes().size() == 1) {
      steps.add(new CheckStep("tcp", CheckStep.Outcome.SKIPPED, "one node"));
      return;
    }
    try (Talk.Step _ = talk.step("connecting the nodes")) {
      tcp(seen, steps, findings);
    }
  }

  private void cuda(Seen seen, Subject subject, List<CheckStep> steps, List<FabricFinding> findings)
      throws InterruptedException {
    var slots = new TreeMap<Integer, Integer>();
    var vendors = new TreeSet<String>();
    for (LaunchNode node : site.nodes()) {
      int index = node.info().index();
      Optional<GpuFacts> gpus = gpus(seen, index);
      boolean hasCuda =
          gpus.map(known -> known.count() > 0 && !known.vendor().equals("amd")).orElse(false);
      gpus.filter(known -> known.count() > 0).ifPresent(known -> vendors.add(known.vendor()));
      // Of a machine with GPUs a session may have none.
      if (hasCuda && node.info().hasGpus()) {
        slots.put(index, node.info().slots().size());
      }
    }
    if (slots.isEmpty()) {
      steps.add(
          new CheckStep(
              "cuda",
              CheckStep.Outcome.SKIPPED,
              vendors.contains("amd")
                  ? "AMD GPUs have no CUDA"
                  : vendors.isEmpty() ? "no GPU on any node" : "the session has no GPUs"));
      return;
    }
    List<FabricFinding> found =
        new CudaCheck(site, tasks).findings(slots, seen.pythons(), subject.input().environment());
    int gpus = slots.values().stream().mapToInt(count -> count).sum();
    steps.add(step("cuda", found, Phrase.counted(gpus, "GPU")));
    findings.addAll(found);
  }

  /** Nodes that are one machine have said the same. */
  private Optional<GpuFacts> gpus(Seen seen, int node) {
    return seen.gang().nodes().stream()
        .filter(each -> site.onThisMachine() || each.index() == node)
        .map(each -> each.facts().gpus())
        .findFirst();
  }

  private void tcp(Seen seen, List<CheckStep> steps, List<FabricFinding> findings)
      throws InterruptedException {
    List<PairAddress> addresses = addresses(seen);
    List<PairReply> replies = new PairCheck(site, tasks).replies(addresses);
    List<FabricFinding> found = PairRule.findings(replies);
    long dialled = replies.stream().filter(PairReply.Dialled.class::isInstance).count();
    long pairs = dialled * (dialled - 1);
    if (pairs == 0) {
      steps.add(new CheckStep("tcp", CheckStep.Outcome.SKIPPED, "no two nodes could be asked"));
    } else {
      String through =
          addresses.stream()
              .map(PairAddress::through)
              .filter(name -> !name.isEmpty())
              .distinct()
              .collect(Collectors.joining(", "));
      String over = through.isEmpty() ? "" : " over " + through;
      steps.add(step("tcp", found, pairs + " connections" + over));
    }
    findings.addAll(found);
  }

  private List<PairAddress> addresses(Seen seen) {
    return site.nodes().stream()
        .map(
            node ->
                site.onThisMachine()
                    ? new PairAddress("lo", "", LOOPBACK)
                    : PairAddress.of(
                        seen.gang(), seen.plan(), node.info().index(), node.info().address()))
        .toList();
  }

  /**
   * What is wrong with nodes that are new; said once, so that their first run does not repeat it.
   */
  public List<FabricFinding> problems(Subject subject) throws InterruptedException {
    // One node, or several on one machine, cannot differ in their Python.
    List<NodePython> found =
        site.onThisMachine() || site.nodes().size() == 1
            ? site.nodes().stream()
                .<NodePython>map(_ -> new NodePython.Unknown("not asked"))
                .toList()
            : pythons(subject);
    Seen seen = seen(fabrics.recall(members(found), subject.variables()), found, subject);
    List<FabricFinding> problems =
        seen.findings().stream().filter(each -> each.severity() != Severity.NOTE).toList();
    fabrics.said(problems);
    return problems;
  }

  private Seen seen(Observed observed, List<NodePython> found, Subject subject) {
    FabricGang gang = FabricGang.read(observed.gang(), subject.variables());
    FabricPlan plan =
        observed.silent().isEmpty() || gang.size() == 0
            ? observed.fabric().plan()
            : fabrics.planOf(observed.gang(), subject.variables());
    var findings = new ArrayList<FabricFinding>();
    plan.findings().stream()
        // FactsRule describes silent nodes better than the plan.
        .filter(each -> !each.kind().equals("facts") || observed.silent().isEmpty())
        .forEach(findings::add);
    findings.addAll(FactsRule.findings(found, observed.silent()));
    return new Seen(observed, gang, found, findings);
  }

  private static CheckStep step(String name, List<FabricFinding> findings, String detail) {
    boolean isPassed = findings.stream().noneMatch(FabricFinding::isRefusal);
    return new CheckStep(
        name, isPassed ? CheckStep.Outcome.PASSED : CheckStep.Outcome.FAILED, detail);
  }

  private String nodes() {
    return Phrase.counted(site.nodes().size(), "node");
  }

  private List<String> hosts() {
    return site.nodes().stream().map(node -> node.info().host()).toList();
  }

  private List<RunFabrics.Member> members(List<NodePython> found) {
    var members = new ArrayList<RunFabrics.Member>();
    for (int node = 0; node < found.size(); node++) {
      Optional<PythonFacts> python =
          found.get(node) instanceof NodePython.Known(var facts)
              ? Optional.of(facts)
              : Optional.empty();
      members.add(new RunFabrics.Member(node, python));
    }
    return members;
  }

  /** In the order of the nodes. One that hangs holds up no other. */
  private List<NodePython> pythons(Subject subject) throws InterruptedException {
    if (site.onThisMachine()) {
      NodePython one = python(site.nodes().getFirst(), subject);
      return site.nodes().stream().map(_ -> one).toList();
    }
    return tasks.each("check-python", site.nodes(), node -> python(node, subject));
  }

  private NodePython python(LaunchNode node, Subject subject) throws InterruptedException {
    PythonChoice choice =
        PythonChoice.of(
            subject.command().python(),
            subject.input().python(),
            site.root(),
            site.inside(subject.command().folder()),
            site.onThisMachine(),
            node.info().workspace());
    try {
      List<Pythons.Answer> answers =
          tasks.within(
              PYTHON_LIMIT,
              "check-python",
              () -> pythons.ask(List.of(node), _ -> choice, subject.input().environment()));
      return switch (answers.getFirst()) {
        case Pythons.Answer.Found(var facts) -> new NodePython.Known(facts);
        case Pythons.Answer.None(_, var tried) ->
            new NodePython.Missing("none of " + String.join(", ", tried) + " is there");
        case Pythons.Answer.Broken(_, var python, var reason) ->
            new NodePython.Missing(python + ": " + reason);
      };
    } catch (TimeoutException slow) {
      return new NodePython.Unknown("no answer within " + DurationText.of(PYTHON_LIMIT));
    } catch (GpushException failed) {
      return new NodePython.Unknown(NodeCalls.why(failed));
    }
  }
}
