package dev.gpush.templates;

import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipe.Evidence;
import dev.gpush.core.fabric.Recipe.Kind;
import dev.gpush.core.fabric.Recipe.Proof;
import dev.gpush.core.fabric.Recipe.Script;
import dev.gpush.core.fabric.Recipe.Setting;
import dev.gpush.core.fabric.Recipes;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Recipes from {@code recipes.yaml} in the jar. Thread-safe. */
public final class YamlRecipes implements Recipes {
  @Override
  public List<Recipe> all() {
    YamlReader.Reading reading = YamlReader.read(bytes());
    Yaml file =
        reading
            .content()
            .filter(_ -> reading.flaws().isEmpty())
            .orElseThrow(() -> new IllegalStateException("recipes.yaml: " + reading.flaws()));
    return file.get("recipes").stream()
        .flatMap(YamlRecipes::entries)
        .map(each -> recipe(each.key(), each.value()))
        .toList();
  }

  private static Recipe recipe(String name, Yaml recipe) {
    List<Proof> proofs =
        recipe.get("evidence").stream()
            .flatMap(YamlRecipes::entries)
            .map(each -> new Proof(kind(each.key()), texts(each.value())))
            .sorted(Comparator.comparing(Proof::kind))
            .toList();
    List<Setting> settings =
        recipe.get("set").stream()
            .flatMap(YamlRecipes::entries)
            .map(each -> setting(each.key(), each.value()))
            .toList();
    return new Recipe(
        name,
        needed(recipe, "about"),
        new Evidence(proofs),
        recipe.text("fabric").orElse(""),
        recipe.get("rails").map(YamlRecipes::texts).orElse(List.of()),
        recipe.text("plugin").equals(Optional.of("true")),
        recipe.get("script").map(each -> new Script(needed(each, "path"), needed(each, "why"))),
        settings);
  }

  private static Setting setting(String name, Yaml setting) {
    return new Setting(name, needed(setting, "value"), needed(setting, "why"));
  }

  private static Kind kind(String word) {
    return Stream.of(Kind.values())
        .filter(kind -> kind.word().equals(word))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("recipes.yaml: no kind " + word));
  }

  private static String needed(Yaml yaml, String key) {
    return yaml.text(key)
        .orElseThrow(() -> new IllegalStateException("recipes.yaml: no " + key + " at " + yaml));
  }

  private static List<String> texts(Yaml list) {
    return list instanceof Yaml.Sequence(_, var items)
        ? items.stream().flatMap(item -> item.asText().stream()).toList()
        : List.of();
  }

  private static Stream<Yaml.Entry> entries(Yaml yaml) {
    return yaml instanceof Yaml.Mapping(_, var entries) ? entries.stream() : Stream.of();
  }

  private static byte[] bytes() {
    try (InputStream input = YamlRecipes.class.getResourceAsStream("recipes.yaml")) {
      if (input == null) {
        throw new IllegalStateException("not in the jar: recipes.yaml");
      }
      return input.readAllBytes();
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
