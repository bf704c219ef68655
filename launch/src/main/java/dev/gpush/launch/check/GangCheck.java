package dev.gpush.launch.check;

import dev.gpush.core.check.CheckLevel;
import dev.gpush.core.check.CheckReport;
import dev.gpush.core.check.CheckStep;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.launch.fabric.gang.FabricGang;
import dev.gpush.launch.fabric.session.RunFabrics;
import dev.gpush.launch.fabric.session.RunFabrics.Observed;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.python.PythonChoice;
import dev.gpush.launch.python.PythonFacts;
import dev.gpush.launch.python.Pythons;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/** Checks the nodes of one session. Thread-safe; nothing that it starts is left. */
public final class GangCheck {
  /** A Python on a cold network file system; a check says that it is slow, and goes on. */
  private static final Duration PYTHON_LIMIT = Duration.ofSeconds(10);

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

  /** All that the level has. */
  public CheckReport check(Subject subject, CheckLevel level, Talk talk)
      throws InterruptedException {
    var steps = new ArrayList<CheckStep>();
    Seen seen;
    try (Talk.Step _ = talk.step("asking the nodes")) {
      List<NodePython> found = pythons(subject);
      seen = seen(fabrics.observe(members(found), subject.variables()), found, subject);
    }
    var findings = new ArrayList<>(seen.findings());
    steps.add(step("facts", findings, nodes() + ", " + (site.onThisMachine() ? "one machine" : "compared")));
    return new CheckReport(
        level, seen.plan().gang(), hosts(), steps, findings, List.of(), Optional.empty());
  }

  /** What is wrong with nodes that are new; said once, so that their first run does not repeat it. */
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
        // Of nodes that are silent the rule says more than the plan does.
        .filter(each -> !each.kind().equals("facts") || observed.silent().isEmpty())
        .forEach(findings::add);
    findings.addAll(FactsRule.findings(gang, found, observed.silent()));
    return new Seen(observed, gang, found, findings);
  }

  private static CheckStep step(String name, List<FabricFinding> findings, String detail) {
    boolean isPassed = findings.stream().noneMatch(FabricFinding::isRefusal);
    return new CheckStep(
        name, isPassed ? CheckStep.Outcome.PASSED : CheckStep.Outcome.FAILED, detail);
  }

  private String nodes() {
    return site.nodes().size() == 1 ? "1 node" : site.nodes().size() + " nodes";
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

  /** In the order of the nodes. One that hangs or is gone holds up no other. */
  private List<NodePython> pythons(Subject subject) throws InterruptedException {
    if (site.onThisMachine()) {
      NodePython one = python(site.nodes().getFirst(), subject);
      return site.nodes().stream().map(_ -> one).toList();
    }
    var asking = new ArrayList<Work<NodePython, RuntimeException>>();
    for (LaunchNode node : site.nodes()) {
      asking.add(() -> python(node, subject));
    }
    return tasks.all("check-python", asking);
  }

  private NodePython python(LaunchNode node, Subject subject) throws InterruptedException {
    if (node.calls().isLost()) {
      return new NodePython.Unknown("the node is gone");
    }
    Path folder = subject.command().folder();
    Path inside = folder.startsWith(site.root()) ? folder : site.root();
    PythonChoice choice =
        PythonChoice.of(
            subject.command().python().or(subject.input()::python),
            site.root(),
            inside,
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
      return new NodePython.Unknown("no answer within " + PYTHON_LIMIT.toSeconds() + " s");
    } catch (GpushException failed) {
      return new NodePython.Unknown("the agent cannot be asked now");
    }
  }
}
