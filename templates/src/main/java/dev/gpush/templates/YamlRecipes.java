package dev.gpush.templates;

import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipes;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.text.Resource;
import dev.gpush.templates.schema.Found;
import dev.gpush.templates.schema.Place;
import dev.gpush.templates.schema.RecipeReader;
import dev.gpush.templates.schema.RecipeReader.Table;
import dev.gpush.templates.schema.ValueType.Simple;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Recipes from {@code recipes.yaml} in the jar, under those of site.yaml. Thread-safe. */
public final class YamlRecipes implements Recipes {
  /** The key, in both files. */
  private static final String KEY = "recipes";

  private final Path site;

  /**
   * @param site what lies under every user's configuration: /etc/gpush/site.yaml
   */
  public YamlRecipes(Path site) {
    this.site = site;
  }

  @Override
  public List<Recipe> all() {
    SettingsFile file = SettingsFile.read(site, Place.SITE);
    if (!file.problems().isEmpty()) {
      throw new GpushException(new ConfigFailure.Invalid(file.problems()));
    }
    var table = new Table(List.of(), Set.of(), List.of());
    for (Found found : file.found()) {
      if (found.key().type() == Simple.RECIPE_TABLE
          && found.source() instanceof Yaml.Mapping mapping) {
        table = new RecipeReader(KEY, file.name()).read(mapping);
      }
    }
    Table own = table;
    var recipes = new ArrayList<>(own.recipes());
    List<String> names = own.recipes().stream().map(Recipe::name).toList();
    for (Recipe recipe : shipped()) {
      if (!names.contains(recipe.name()) && !own.off().contains(recipe.name())) {
        recipes.add(recipe);
      }
    }
    return List.copyOf(recipes);
  }

  private static List<Recipe> shipped() {
    YamlReader.Reading reading = YamlReader.read(Resource.bytes(YamlRecipes.class, "recipes.yaml"));
    Yaml value =
        reading.content().stream()
            .flatMap(content -> content.entries().stream())
            .filter(entry -> entry.key().equals(KEY))
            .map(Yaml.Entry::value)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("recipes.yaml: " + reading.flaws()));
    if (!(value instanceof Yaml.Mapping mapping)) {
      throw new IllegalStateException("recipes.yaml has no recipes");
    }
    Table table = new RecipeReader(KEY, "").read(mapping);
    if (!table.flaws().isEmpty()) {
      throw new IllegalStateException("recipes.yaml: " + table.flaws());
    }
    return table.recipes();
  }
}
