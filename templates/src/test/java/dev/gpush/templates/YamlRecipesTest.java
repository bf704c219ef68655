package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipe.Kind;
import dev.gpush.core.fabric.Recipe.Proof;
import dev.gpush.core.fabric.Recipe.Setting;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class YamlRecipesTest {
  /** Names are given by people who install a machine, so they prove nothing by themselves. */
  private static final Set<Kind> NAMES = EnumSet.of(Kind.DEVICES, Kind.INTERFACES, Kind.LINK);

  /** Recipes are for the network: nothing else is set by them. */
  private static final Pattern FAMILY = Pattern.compile("(NCCL|UCX|FI|CUDA|HSA)_[A-Z0-9_]+");

  @TempDir private Path folder;

  @Test
  void everyRecipeSaysWhatItIsAndWhy() {
    List<Recipe> recipes = new YamlRecipes().all();

    assertTrue(recipes.size() >= 10);
    for (Recipe recipe : recipes) {
      assertFalse(recipe.about().isEmpty(), recipe.name());
      for (Setting setting : recipe.settings()) {
        assertTrue(setting.why().length() <= 80, recipe.name() + " " + setting.name());
      }
    }
  }

  @Test
  void everyRecipeHasEvidenceAndAnEffectOnTheNetwork() {
    for (Recipe recipe : new YamlRecipes().all()) {
      List<Proof> proofs = recipe.evidence().proofs();
      assertFalse(
          NAMES.containsAll(proofs.stream().map(Proof::kind).collect(Collectors.toSet())),
          recipe.name());
      assertTrue(proofs.stream().noneMatch(proof -> proof.patterns().isEmpty()), recipe.name());
      assertTrue(
          recipe.settings().stream().allMatch(each -> FAMILY.matcher(each.name()).matches()),
          recipe.name());
      assertFalse(
          recipe.settings().isEmpty() && recipe.script().isEmpty() && recipe.fabric().isEmpty(),
          recipe.name());
    }
  }

  @Test
  void recipesOfASiteWereRemoved() {
    String instead =
        "was removed; delete it, and set the variables in /etc/nccl.conf of the nodes, or under"
            + " env: in gpush.yaml";
    assertEquals(
        List.of("site.yaml recipes: " + instead, "gpush.yaml recipes: unknown key"),
        List.of(problem("site.yaml"), problem("gpush.yaml")));
  }

  private String problem(String file) {
    Folders folders = Folders.in(folder.resolve(file)).with(file, "recipes: {azure-ndv4: off}\n");
    GpushException thrown = assertThrows(GpushException.class, folders::load);
    ConfigFailure.Problem problem =
        ((ConfigFailure.Invalid) thrown.failure()).problems().getFirst();
    return problem.file() + " " + problem.key() + ": " + problem.what();
  }
}
