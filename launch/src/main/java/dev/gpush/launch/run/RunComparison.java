package dev.gpush.launch.run;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.PlannedScript;
import dev.gpush.core.fabric.PlannedVariable;
import dev.gpush.core.run.RunDifference;
import dev.gpush.core.run.RunDifference.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What differed between two runs, by their records; pure. */
public final class RunComparison {
  private static final String UNSET = "(unset)";

  /** A value of which only a mark is kept. */
  private static final String SET = "set";

  /** It is another value, and which one the record does not say. */
  private static final String CHANGED = "set to another value";

  private final List<RunDifference> found = new ArrayList<>();

  private RunComparison() {}

  public static List<RunDifference> of(RunRecord first, RunRecord second) {
    var comparison = new RunComparison();
    comparison.compare(Kind.CODE, "generation", generation(first), generation(second));
    comparison.compare(Kind.COMMAND, "words", words(first), words(second));
    comparison.compare(Kind.COMMAND, "folder", first.asked().folder(), second.asked().folder());
    comparison.compare(Kind.COMMAND, "slots", slots(first), slots(second));
    comparison.compare(Kind.COMMAND, "nproc", ranksPerNode(first), ranksPerNode(second));
    comparison.compare(Kind.COMMAND, "restarts", restarts(first), restarts(second));
    comparison.compare(Kind.COMMAND, "warm", warm(first), warm(second));
    comparison.compare(Kind.COMMAND, "mode", first.launched().mode(), second.launched().mode());
    comparison.compare(
        Kind.PYTHON, "interpreter", first.launched().python(), second.launched().python());
    comparison.environments(first.launched().given(), second.launched().given());
    comparison.plans(first.launched().given().fabric(), second.launched().given().fabric());
    return List.copyOf(comparison.found);
  }

  private static String generation(RunRecord run) {
    return run.launched().generation() == 0 ? "" : "G" + run.launched().generation();
  }

  private static String words(RunRecord run) {
    return String.join(" ", run.words());
  }

  private static String ranksPerNode(RunRecord run) {
    return run.options().ranks().perNode().map(String::valueOf).orElse("");
  }

  private static String restarts(RunRecord run) {
    return run.options().ranks().restarts() == 0 ? "" : "" + run.options().ranks().restarts();
  }

  private static String warm(RunRecord run) {
    return run.options().ranks().warm() ? "yes" : "";
  }

  private static String slots(RunRecord run) {
    return run.parts().stream()
        .map(part -> part.node() + ":" + String.join(",", part.slots()))
        .collect(Collectors.joining(" "));
  }

  private void compare(Kind kind, String what, String first, String second) {
    if (!first.equals(second)) {
      found.add(new RunDifference(kind, what, first, second));
    }
  }

  private void environments(RunRecord.Given first, RunRecord.Given second) {
    if (first.marks().isEmpty() || second.marks().isEmpty()) {
      return; // A record that is older than marks, or another gateway's.
    }
    var names = new TreeSet<>(first.marks().keySet());
    names.addAll(second.marks().keySet());
    // What the plan set is compared there, with values.
    names.removeAll(exported(first));
    names.removeAll(exported(second));
    for (String name : names) {
      String before = first.marks().getOrDefault(name, "");
      String after = second.marks().getOrDefault(name, "");
      if (!before.equals(after)) {
        found.add(
            new RunDifference(
                Kind.ENVIRONMENT,
                name,
                before.isEmpty() ? UNSET : SET,
                after.isEmpty() ? UNSET : before.isEmpty() ? SET : CHANGED));
      }
    }
  }

  private static Set<String> exported(RunRecord.Given given) {
    return given.fabric().stream()
        .flatMap(plan -> plan.variables().stream())
        .map(PlannedVariable::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private void plans(Optional<FabricPlan> first, Optional<FabricPlan> second) {
    compare(Kind.PLAN, "fabric", text(first, FabricPlan::fabric), text(second, FabricPlan::fabric));
    compare(Kind.PLAN, "gang", text(first, FabricPlan::gang), text(second, FabricPlan::gang));
    Map<String, String> before = values(first);
    Map<String, String> after = values(second);
    var names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    for (String name : names) {
      compare(Kind.PLAN, name, before.getOrDefault(name, UNSET), after.getOrDefault(name, UNSET));
    }
    compare(
        Kind.PLAN,
        "scripts",
        text(first, RunComparison::scripts),
        text(second, RunComparison::scripts));
    var findings = new TreeSet<>(findings(first));
    findings.addAll(findings(second));
    for (String finding : findings) {
      compare(
          Kind.PLAN,
          "finding",
          findings(first).contains(finding) ? finding : "",
          findings(second).contains(finding) ? finding : "");
    }
  }

  private interface Part {
    String of(FabricPlan plan);
  }

  private static String text(Optional<FabricPlan> plan, Part part) {
    return plan.map(part::of).orElse("");
  }

  private static String scripts(FabricPlan plan) {
    return plan.scripts().stream().map(PlannedScript::path).collect(Collectors.joining(" "));
  }

  /** Name to value, with the nodes where they do not have the same. */
  private static Map<String, String> values(Optional<FabricPlan> plan) {
    var values = new TreeMap<String, String>();
    if (plan.isEmpty()) {
      return values;
    }
    for (PlannedVariable each : plan.get().variables()) {
      boolean isEverywhere = each.nodes().count() == plan.get().nodes();
      String value = each.value().orElse(UNSET);
      values.merge(
          each.name(),
          isEverywhere ? value : value + " on " + each.nodes().words(),
          (one, other) -> one + ", " + other);
    }
    return values;
  }

  private static List<String> findings(Optional<FabricPlan> plan) {
    return plan.stream()
        .flatMap(each -> each.findings().stream())
        .map(FabricFinding::what)
        .toList();
  }
}
