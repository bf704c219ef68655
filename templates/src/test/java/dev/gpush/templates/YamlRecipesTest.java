package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipe.Kind;
import dev.gpush.core.fabric.Recipe.Proof;
import dev.gpush.core.fabric.Recipe.Script;
import dev.gpush.core.fabric.Recipe.Setting;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class YamlRecipesTest {
  @TempDir private Path folder;

  private List<Recipe> recipes(String site) throws IOException {
    Path file = folder.resolve("site.yaml");
    Files.writeString(file, site);
    return new YamlRecipes(file).all();
  }

  private String problem(String recipe) {
    GpushException thrown =
        assertThrows(GpushException.class, () -> recipes("recipes:\n  acme:\n" + recipe));
    var invalid = assertInstanceOf(ConfigFailure.Invalid.class, thrown.failure());
    ConfigFailure.Problem first = invalid.problems().getFirst();
    return first.line()
        + ":"
        + first.column()
        + " "
        + first.key()
        + ": "
        + first.what()
        + first.suggestion().map(word -> ", did you mean " + word + "?").orElse("");
  }

  @Test
  void everyShippedRecipeSaysWhatItIsAndWhy() {
    List<Recipe> shipped = new YamlRecipes(folder.resolve("none.yaml")).all();

    assertTrue(shipped.size() >= 10);
    for (Recipe recipe : shipped) {
      assertFalse(recipe.about().isEmpty(), recipe.name());
      assertEquals(Recipe.BUILT_IN, recipe.origin());
      for (Setting setting : recipe.settings()) {
        assertTrue(setting.why().length() <= 80, recipe.name() + " " + setting.name());
      }
    }
  }

  @Test
  void aSiteAddsReplacesAndSwitchesOff() throws IOException {
    int shipped = new YamlRecipes(folder.resolve("none.yaml")).all().size();

    List<Recipe> all =
        recipes(
            """
            recipes:
              acme:
                about: ACME's RoCE
                evidence: {product: ["ACME *"], devices: mlx5_*}
                script: {path: /opt/acme/env.sh, why: theirs}
                set:
                  NCCL_IB_TC: {value: 106, why: ACME's traffic class}
              aws-efa:
                evidence: {vendors: "0x1d0f"}
                fabric: EFA
              azure-ndv4: off
            """);

    assertEquals(shipped, all.size());
    Recipe acme = all.getFirst();
    assertEquals("recipe acme (site.yaml:2)", acme.source());
    assertEquals(
        List.of(
            new Proof(Kind.PRODUCT, List.of("ACME *")), new Proof(Kind.DEVICES, List.of("mlx5_*"))),
        acme.evidence().proofs());
    assertEquals(
        List.of(new Setting("NCCL_IB_TC", "106", "ACME's traffic class")), acme.settings());
    assertEquals(Optional.of(new Script("/opt/acme/env.sh", "theirs")), acme.script());
    assertEquals("site.yaml:8", all.get(1).origin());
    assertEquals(1, all.stream().filter(each -> each.name().equals("aws-efa")).count());
    assertTrue(all.stream().noneMatch(each -> each.name().equals("azure-ndv4")));
  }

  /** Lines of the recipe are divided by ;; here. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "set: {NCCL_IB_TC: {value: 1, why: x}} | 2:3 recipes.acme: has no evidence; say how the"
            + " provider is recognised: {product: [\"ACME *\"]}",
        "evidence: {devices: [ibp], link: InfiniBand} | 3:15 recipes.acme.evidence: names of"
            + " devices and interfaces alone prove no provider; add files, labels, product,"
            + " vendors, environment or gpus",
        "evidence: {lables: [a]} | 3:16 recipes.acme.evidence.lables: unknown key, did you mean"
            + " labels?",
        "evidence: {files: /a} ;; sets: {} | 4:5 recipes.acme.sets: unknown key, did you mean"
            + " set?",
        "evidence: {files: /a} | 2:3 recipes.acme: has no effect; add set, script or fabric",
        "evidence: {files: []} | 3:23 recipes.acme.evidence.files: must have 1 to 64 entries, not"
            + " 0",
        "evidence: {files: /a} ;; set: {PATH: {value: /x, why: y}} | 4:11"
            + " recipes.acme.set.PATH: is no variable of NCCL and what it uses (NCCL_*, UCX_*,"
            + " FI_*, GLOO_*, CUDA_* …)",
        "evidence: {files: /a} ;; set: {NCCL_IB_TC: 41} | 4:23 recipes.acme.set.NCCL_IB_TC: must"
            + " have value and why: {value: \"4\", why: …}",
        "evidence: {files: /a} ;; set: {NCCL_IB_TC: {value: 41}} | 4:23"
            + " recipes.acme.set.NCCL_IB_TC: has no why",
        "evidence: {files: /a} ;; script: {path: env.sh, why: y} | 4:20"
            + " recipes.acme.script.path: must be an absolute path without spaces",
        "evidence: {files: /a} ;; plugin: maybe | 4:13 recipes.acme.plugin: must be true or"
            + " false, not maybe",
        "evidence: yes | 3:15 recipes.acme.evidence: must be keys with values",
      })
  void aMistakeIsNamedWithItsPlaceAndRule(String recipe, String problem) {
    assertEquals(problem, problem("    " + recipe.replace(" ;; ", "\n    ") + "\n"));
  }

  @Test
  void namesOfRecipesHaveARule() {
    GpushException thrown =
        assertThrows(GpushException.class, () -> recipes("recipes: {Acme One: off}\n"));
    var invalid = assertInstanceOf(ConfigFailure.Invalid.class, thrown.failure());
    assertEquals(
        "a recipe's name is a-z, 0-9 and '-', at most 48, with a letter first",
        invalid.problems().getFirst().what());
  }

  @Test
  void recipesBelongInTheSitesFileAndBreakNoOtherCommandWhenTheyAreRight() {
    Folders folders =
        Folders.in(folder)
            .with("site.yaml", "recipes: {azure-ndv4: off}\n")
            .with("gpush.yaml", "nodes: 2\n");
    assertEquals("2 gpush.yaml:1", folders.setting("nodes"));

    Folders wrong =
        Folders.in(folder.resolve("other")).with("gpush.yaml", "recipes: {azure-ndv4: off}\n");
    GpushException thrown = assertThrows(GpushException.class, wrong::load);
    var invalid = assertInstanceOf(ConfigFailure.Invalid.class, thrown.failure());
    assertEquals("belongs in site.yaml, not in gpush.yaml", invalid.problems().getFirst().what());
  }
}
