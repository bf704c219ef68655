package dev.gpush.launch.fabric.gang;

import dev.gpush.core.fabric.ExpectedNetwork;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.Phrase;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.PythonFacts;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The plans of a session's runs; says each thing that is wrong once. Thread-safe. */
public final class RunFabrics {
  private final LaunchSite site;
  private final SessionFacts facts;
  private final FabricPlans plans;

  /** What was said and still holds. */
  // guarded by this
  private final Set<String> said = new LinkedHashSet<>();

  /**
   * A node of a run, by its number in the session.
   *
   * @param python its interpreter, where it is known
   */
  public record Member(int node, Optional<PythonFacts> python) {
    private Json versions() {
      return Json.object(
          "torch", python.flatMap(PythonFacts::torch),
          "nccl", python.flatMap(PythonFacts::nccl),
          "cuda", python.flatMap(PythonFacts::cuda));
    }
  }

  public RunFabrics(LaunchSite site, SessionFacts facts, FabricPlans plans) {
    this.site = site;
    this.facts = facts;
    this.plans = plans;
  }

  /** Has the nodes asked in the background, so that {@link #plan} need not wait. */
  public void prepare() {
    facts.refresh();
  }

  /** Waits for the facts, where there is something to wait for. */
  public void await() throws InterruptedException {
    facts.replies();
  }

  /**
   * What the nodes say, and the plan of it.
   *
   * @param fabric what ranks would get; it has no variables where a node is silent
   * @param gang the facts of the nodes that told them, as {@link FabricPlans} takes them; of one
   *     node where all are this machine
   * @param silent the other nodes, by why
   */
  public record Observed(RankFabric fabric, Json gang, Map<String, List<Integer>> silent) {}

  /** Facts of now. */
  public Observed observe(List<Member> members, List<UserVariable> environment)
      throws InterruptedException {
    facts.forget();
    return observed(members, environment);
  }

  /** Facts that are kept, or those that are being asked. */
  public Observed recall(List<Member> members, List<UserVariable> environment)
      throws InterruptedException {
    return observed(members, environment);
  }

  /** The plan of what some of the nodes said; nothing is exported by it. */
  public FabricPlan planOf(Json gang, List<UserVariable> environment) {
    return plans.plan(gang, environment);
  }

  /** Marks findings as reported, so runs do not repeat them. */
  public synchronized void said(List<FabricFinding> findings) {
    findings.forEach(finding -> said.add(finding.sentence()));
  }

  /**
   * The plan of a run. Where a node does not tell its facts, NCCL is left alone on all of them.
   *
   * @throws GpushException with a {@code LaunchFailure.NoFabric} if the gang cannot work
   */
  public RankFabric plan(List<Member> members, List<UserVariable> environment, Talk talk)
      throws InterruptedException {
    RankFabric fabric = plan(members, environment);
    List<FabricFinding> refusals = fabric.plan().refusals();
    if (!refusals.isEmpty()) {
      throw new GpushException(
          new LaunchFailure.NoFabric(
              refusals.stream()
                  .map(each -> new LaunchFailure.Trouble(each.what(), each.cost(), each.remedy()))
                  .toList()));
    }
    List<Integer> nodes = members.stream().map(Member::node).toList();
    var findings = new ArrayList<FabricFinding>();
    for (FabricFinding finding : fabric.plan().findings()) {
      // Between the GPUs of one node there is no network that could be unknown.
      if (fabric.isOfSeveralMachines() || finding.severity() != Severity.NOTE) {
        findings.add(finding);
      }
    }
    unsaid(findings, nodes).forEach(talk::say);
    return fabric;
  }

  private RankFabric plan(List<Member> members, List<UserVariable> environment)
      throws InterruptedException {
    return observed(members, environment).fabric();
  }

  private Observed observed(List<Member> members, List<UserVariable> environment)
      throws InterruptedException {
    List<NodeReply> replies = facts.replies();
    List<Member> machines = site.onThisMachine() ? members.subList(0, 1) : members;
    Optional<Integer> machine =
        site.onThisMachine() ? Optional.of(members.getFirst().node()) : Optional.empty();
    var gang = new ArrayList<Json>();
    var silent = new TreeMap<String, List<Integer>>();
    for (Member member : machines) {
      switch (replies.get(member.node())) {
        case NodeReply.Known(var known) -> gang.add(described(member, known));
        case NodeReply.Silent(var why) ->
            silent.computeIfAbsent(why, _ -> new ArrayList<>()).add(member.node());
      }
    }
    FabricPlan plan =
        silent.isEmpty()
            ? plans.plan(Json.array(gang), environment)
            : unknown(machines.size(), silent);
    return new Observed(new RankFabric(plan, machine), Json.array(gang), silent);
  }

  private Json described(Member member, Json known) {
    return Json.object(
        "node", member.node(),
        "address", site.nodes().get(member.node()).info().address(),
        "facts", known,
        "python", member.versions());
  }

  private static FabricPlan unknown(int nodes, Map<String, List<Integer>> silent) {
    var who = new ArrayList<Integer>();
    var what = new ArrayList<String>();
    silent.forEach(
        (why, those) -> {
          who.addAll(those);
          what.add(NodeSet.of(those).words() + ": " + why);
        });
    var finding =
        new FabricFinding(
            Severity.NOTE,
            "facts",
            NodeSet.of(who),
            String.join("; ", what),
            "nothing is set, and NCCL chooses",
            "");
    return new FabricPlan(
        nodes,
        Phrase.counted(nodes, "node"),
        ExpectedNetwork.UNKNOWN,
        List.of(),
        List.of(),
        List.of(finding));
  }

  /** Those that were not said, or said of another state of things. */
  private synchronized List<String> unsaid(List<FabricFinding> findings, List<Integer> nodes) {
    var now = new LinkedHashSet<String>();
    findings.forEach(finding -> now.add(finding.sentence()));
    boolean isWhole = nodes.size() == site.nodes().size();
    List<String> fresh = now.stream().filter(text -> !said.contains(text)).toList();
    if (isWhole) {
      // What the whole session no longer shows is over, and is said again if it comes back.
      said.retainAll(now);
    }
    said.addAll(fresh);
    return fresh;
  }
}
