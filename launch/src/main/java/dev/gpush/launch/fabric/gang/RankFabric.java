package dev.gpush.launch.fabric.gang;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.PlannedScript;
import dev.gpush.core.fabric.PlannedVariable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the ranks of one run get from its plan.
 *
 * @param machine the planned node that stands for all, where the nodes are one machine
 */
public record RankFabric(FabricPlan plan, Optional<Integer> machine) {
  /** A provider's script adds its folders to these; the user's value alone would drop them. */
  private static final Set<String> EXTENDED = Set.of("PATH", "LD_LIBRARY_PATH");

  /**
   * Variables that nothing else sets. With a script also what the site's files set: of a variable
   * that both set the site's value counts, and a file alone would lose.
   */
  public Map<String, String> variables(int node) {
    var variables = new TreeMap<String, String>();
    if (!scripts(node).isEmpty()) {
      for (PlannedVariable each : plan.variables()) {
        if (isOfSite(each, node)) {
          each.value().ifPresent(value -> variables.put(each.name(), value));
        }
      }
    }
    variables.putAll(plan.exported(planned(node)));
    return variables;
  }

  /** Paths of the scripts that a shell reads on this node before each rank. */
  public List<String> scripts(int node) {
    return plan.scripts().stream()
        .filter(script -> script.nodes().contains(planned(node)))
        .map(PlannedScript::path)
        .toList();
  }

  /**
   * Names of the variables that keep their values when scripts set them too.
   *
   * @param user what the user set
   */
  public List<String> kept(int node, Set<String> user) {
    var kept = new TreeSet<>(user);
    kept.removeAll(EXTENDED);
    for (PlannedVariable each : plan.variables()) {
      boolean isOfRecipe =
          each.authority() == Authority.RECIPE && each.nodes().contains(planned(node));
      if (isOfRecipe || isOfSite(each, node)) {
        kept.add(each.name());
      }
    }
    return List.copyOf(kept);
  }

  /** Set by image, session or nccl.conf; what a script sets it sets itself. */
  private boolean isOfSite(PlannedVariable variable, int node) {
    return variable.authority() == Authority.SITE
        && variable.nodes().contains(planned(node))
        && plan.scripts().stream().noneMatch(script -> script.path().equals(variable.source()));
  }

  private int planned(int node) {
    return machine.orElse(node);
  }

  /** Whether the nodes have a network between them. */
  public boolean isOfSeveralMachines() {
    return plan.nodes() > 1;
  }
}
