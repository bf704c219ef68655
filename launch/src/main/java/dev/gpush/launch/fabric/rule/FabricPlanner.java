package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.ExpectedNetwork;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipes;
import dev.gpush.core.json.Json;
import dev.gpush.launch.fabric.gang.FabricGang;
import java.util.List;

/** Makes plans by the rules, in the order of authority. Thread-safe. */
public final class FabricPlanner implements FabricPlans {
  private final Recipes recipes;

  public FabricPlanner(Recipes recipes) {
    this.recipes = recipes;
  }

  @Override
  public FabricPlan plan(Json gang, List<UserVariable> environment) {
    return plan(FabricGang.read(gang, environment), recipes.all());
  }

  /** A pure function: the same facts give the same plan. */
  static FabricPlan plan(FabricGang gang, List<Recipe> recipes) {
    if (gang.size() == 0) {
      return none();
    }
    GangView view = GangView.of(gang, recipes);
    var draft = new Draft();
    GivenRule.write(view, draft);
    RecipeRule.write(view, draft);
    SocketRule.write(view, draft);
    RailRule.write(view, draft);
    MachineRule.write(view, draft);
    PluginRule.write(view, draft);
    LeftoverRule.write(view, draft);
    return new FabricPlan(
        gang.size(),
        TransportName.gang(view),
        TransportName.expected(view),
        draft.variables(),
        draft.scripts(),
        draft.findings());
  }

  private static FabricPlan none() {
    var finding =
        new FabricFinding(
            Severity.NOTE,
            "facts",
            new NodeSet(List.of()),
            "no node has given facts",
            "nothing is set, and NCCL chooses",
            "");
    return new FabricPlan(
        0, "no nodes", ExpectedNetwork.named("not known"), List.of(), List.of(), List.of(finding));
  }
}
