package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.PlannedScript;
import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipe.Setting;
import dev.gpush.launch.fabric.gang.NameList;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.RecipeMatch;
import dev.gpush.launch.fabric.rule.Draft.Decision;
import java.util.Map;
import java.util.Optional;

/** Recipes whose evidence is on every node apply; one that is on some only is refused or named. */
public final class RecipeRule {
  private RecipeRule() {}

  public static void write(GangView view, Draft draft) {
    for (RecipeMatch match : view.matches()) {
      if (match.isWhole(view.gang())) {
        apply(view, draft, match);
      } else {
        partly(view, draft, match);
      }
    }
  }

  private static void partly(GangView view, Draft draft, RecipeMatch match) {
    NodeSet without = view.gang().where(node -> !match.nodes().contains(node.index()));
    String what =
        without.words()
            + (without.count() == 1 ? " lacks what " : " lack what ")
            + match.nodes().words()
            + (match.nodes().count() == 1 ? " has: " : " have: ")
            + match.recipe().about()
            + " ("
            + match.evidence()
            + ")";
    if (match.isTransport() && !view.choosesTcp()) {
      draft.refuse(
          "mixed-provider",
          without,
          what,
          "NCCL would use two transports that cannot talk to each other, and hang",
          "take nodes of one kind, or choose TCP for all: NCCL_NET=Socket before the command");
    } else {
      draft.warn(
          "mixed-provider",
          without,
          what,
          match.recipe().source() + " is applied to none of them",
          "take nodes of one kind");
    }
  }

  private static void apply(GangView view, Draft draft, RecipeMatch match) {
    Recipe recipe = match.recipe();
    for (NodeFabric node : view.gang().nodes()) {
      recipe
          .script()
          .ifPresent(
              script ->
                  node.facts()
                      .site()
                      .scripts()
                      .getOrDefault(script.path(), Map.of())
                      .forEach((name, value) -> fromScript(draft, node, script, name, value)));
    }
    recipe
        .script()
        .ifPresent(
            script ->
                draft.script(
                    new PlannedScript(
                        script.path(), match.nodes(), script.why(), recipe.source())));
    for (Setting setting : recipe.settings()) {
      if (!isUsable(view, draft, recipe, setting)) {
        continue;
      }
      for (NodeFabric node : view.gang().nodes()) {
        draft.decide(
            setting.name(),
            node.index(),
            new Decision(
                Optional.of(setting.value()), setting.why(), recipe.source(), Authority.RECIPE));
      }
    }
  }

  /** Decided by the script, so that no fact overrides it; the script itself exports it. */
  private static void fromScript(
      Draft draft, NodeFabric node, Recipe.Script script, String name, String value) {
    draft.decide(
        name,
        node.index(),
        new Decision(
            Optional.of(value), "set by the provider's script", script.path(), Authority.SITE));
  }

  /** A recipe that names an interface which some node does not have would stop NCCL. */
  private static boolean isUsable(GangView view, Draft draft, Recipe recipe, Setting setting) {
    if (!setting.name().equals("NCCL_SOCKET_IFNAME")) {
      return true;
    }
    NameList names = NameList.parse(setting.value());
    NodeSet without = view.gang().where(node -> node.chosen(names).isEmpty());
    if (without.isEmpty()) {
      return true;
    }
    draft.warn(
        "recipe-interface",
        without,
        without.words()
            + " "
            + (without.count() == 1 ? "has" : "have")
            + " no interface "
            + setting.value()
            + " that is up",
        recipe.source() + " would set NCCL_SOCKET_IFNAME to it; the facts decide instead",
        "");
    return false;
  }
}
