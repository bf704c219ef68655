package dev.gpush.launch.fabric;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipes;
import dev.gpush.core.json.Json;
import dev.gpush.launch.fabric.gang.FabricGang;
import dev.gpush.launch.fabric.rule.Draft;
import dev.gpush.launch.fabric.rule.GivenRule;
import dev.gpush.launch.fabric.rule.LeftoverRule;
import dev.gpush.launch.fabric.rule.MachineRule;
import dev.gpush.launch.fabric.rule.PluginRule;
import dev.gpush.launch.fabric.rule.RailRule;
import dev.gpush.launch.fabric.rule.RecipeRule;
import dev.gpush.launch.fabric.rule.Scene;
import dev.gpush.launch.fabric.rule.SocketRule;
import dev.gpush.launch.fabric.rule.TransportName;
import java.util.List;
import java.util.Optional;

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
    Scene scene = Scene.of(gang, recipes);
    var draft = new Draft();
    GivenRule.write(scene, draft);
    RecipeRule.write(scene, draft);
    SocketRule.write(scene, draft);
    RailRule.write(scene, draft);
    MachineRule.write(scene, draft);
    PluginRule.write(scene, draft);
    LeftoverRule.write(scene, draft);
    TransportName.Expected expected = TransportName.expected(scene);
    return new FabricPlan(
        gang.size(),
        TransportName.gang(scene),
        expected.words(),
        expected.rate(),
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
        0, "no nodes", "not known", Optional.empty(), List.of(), List.of(), List.of(finding));
  }
}
