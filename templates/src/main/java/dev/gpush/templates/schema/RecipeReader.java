package dev.gpush.templates.schema;

import dev.gpush.core.fabric.Recipe;
import dev.gpush.core.fabric.Recipe.Evidence;
import dev.gpush.core.fabric.Recipe.Kind;
import dev.gpush.core.fabric.Recipe.Proof;
import dev.gpush.core.fabric.Recipe.Script;
import dev.gpush.core.fabric.Recipe.Setting;
import dev.gpush.core.json.Json;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.Yaml;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads a table of recipes. All flaws are found in one pass, and a recipe with a flaw is left out,
 * so that the others can still be judged.
 */
public final class RecipeReader {
  /** In place of a recipe: the built-in one of this name does not count. */
  private static final String OFF = "off";

  private static final List<String> KEYS =
      List.of("about", "evidence", "fabric", "rails", "plugin", "script", "set");

  /** A site with more is generating them; the list is also read by people. */
  private static final int MOST_RECIPES = 100;

  private static final int MOST_PATTERNS = 64;

  private static final int MOST_SETTINGS = 100;

  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,47}");

  private static final Pattern VARIABLE = Pattern.compile("[A-Z][A-Z0-9_]{1,63}");

  /** Recipes are for the network: nothing else can be reached through them. */
  private static final Pattern FAMILY =
      Pattern.compile(
          "(NCCL|RCCL|TORCH_NCCL|TORCH_FR|GLOO|UCX|FI|CUDA|NVIDIA|HSA|HIP|ROCR)_.*|OMPI_MCA_.*");

  private static final Pattern PATH = Pattern.compile("/[^\\s\\x00-\\x1f]{1,254}");

  private final String path;
  private final String file;
  private final List<Recipe> recipes = new ArrayList<>();
  private final Set<String> off = new LinkedHashSet<>();
  private final List<Flaw> flaws = new ArrayList<>();

  /**
   * For one table.
   *
   * @param path the key that it stands under
   * @param file what recipes say they come from, with the line; empty for those in the jar
   */
  public RecipeReader(String path, String file) {
    this.path = path;
    this.file = file;
  }

  /**
   * What a table says.
   *
   * @param off names of built-in recipes that do not count
   */
  public record Table(List<Recipe> recipes, Set<String> off, List<Flaw> flaws) {
    public Table {
      recipes = List.copyOf(recipes);
      off = Set.copyOf(off);
      flaws = List.copyOf(flaws);
    }
  }

  public Table read(Yaml.Mapping table) {
    if (table.entries().size() > MOST_RECIPES) {
      flaws.add(new Flaw(table.at(), path, "has more than " + MOST_RECIPES + " recipes"));
    }
    table.entries().stream().limit(MOST_RECIPES).forEach(this::recipe);
    return new Table(recipes, off, flaws);
  }

  static Json.Obj jsonSchema() {
    Json.Obj texts = ValueSchema.oneOrMore(ValueSchema.text(), MOST_PATTERNS);
    Json.Obj evidence = Json.object();
    var proofs = new ArrayList<Json>();
    for (Kind kind : Kind.values()) {
      evidence = evidence.with(kind.word(), texts);
      if (kind.isProof()) {
        proofs.add(Json.object("required", List.of(kind.word())));
      }
    }
    Json.Obj setting = only(Json.object("value", ValueSchema.text(), "why", ValueSchema.text()));
    Json.Obj recipe =
        only(Json.object(
                "about", ValueSchema.text(),
                "evidence", only(evidence).with("anyOf", proofs),
                "fabric", ValueSchema.text(),
                "rails", texts,
                "plugin", Json.object("type", "boolean"),
                "script",
                    only(Json.object("path", ValueSchema.matching(PATH), "why", ValueSchema.text()))
                        .with("required", List.of("path", "why")),
                "set",
                    ValueSchema.table(
                        FAMILY, setting.with("required", List.of("value", "why")), MOST_SETTINGS)))
            .with("required", List.of("evidence"))
            .with(
                "anyOf",
                Stream.of("set", "script", "fabric")
                    .map(key -> Json.object("required", List.of(key)))
                    .toList());
    // For editors that read YAML 1.1 it is false.
    Json.Obj off = Json.object("enum", List.of(OFF, false));
    return ValueSchema.table(NAME, Json.object("anyOf", List.of(off, recipe)), MOST_RECIPES);
  }

  private static Json.Obj only(Json.Obj properties) {
    return Json.object("type", "object", "properties", properties, "additionalProperties", false);
  }

  private void recipe(Yaml.Entry entry) {
    String at = path + "." + entry.key();
    if (!NAME.matcher(entry.key()).matches()) {
      String rule = "a recipe's name is a-z, 0-9 and '-', at most 48, with a letter first";
      flaws.add(new Flaw(entry.at(), at, rule));
    } else if (entry.value() instanceof Yaml.Scalar(_, var word, _) && word.equals(OFF)) {
      off.add(entry.key());
    } else if (entry.value() instanceof Yaml.Mapping mapping) {
      recipe(entry, new RecipeFields(at, mapping, flaws));
    } else {
      String rule = "must be keys with values: {evidence: …, set: …}, or off";
      flaws.add(new Flaw(entry.value().at(), at, rule));
    }
  }

  private void recipe(Yaml.Entry entry, RecipeFields fields) {
    int before = flaws.size();
    fields.only(KEYS);
    String about = fields.text("about").orElse("");
    Evidence evidence = evidence(fields, entry);
    String fabric = fields.text("fabric").orElse("");
    List<String> rails = fields.texts("rails", MOST_PATTERNS);
    boolean plugin = fields.yes("plugin");
    Optional<Script> script = script(fields);
    List<Setting> settings = settings(fields);
    boolean isEmpty = fabric.isEmpty() && script.isEmpty() && settings.isEmpty();
    if (flaws.size() == before && isEmpty) {
      flaws.add(new Flaw(entry.at(), fields.path(), "has no effect; add set, script or fabric"));
    }
    if (flaws.size() == before) {
      String origin = file.isEmpty() ? Recipe.BUILT_IN : file + ":" + entry.at().line();
      recipes.add(
          new Recipe(
              entry.key(), about, evidence, fabric, rails, plugin, script, settings, origin));
    }
  }

  private Evidence evidence(RecipeFields fields, Yaml.Entry recipe) {
    Optional<RecipeFields> found = fields.section("evidence");
    if (found.isEmpty()) {
      if (!fields.has("evidence")) {
        String rule =
            "has no evidence; say how the provider is recognised: {product: [\"ACME *\"]}";
        flaws.add(new Flaw(recipe.at(), fields.path(), rule));
      }
      return new Evidence(List.of());
    }
    RecipeFields kinds = found.get();
    kinds.only(Stream.of(Kind.values()).map(Kind::word).toList());
    var proofs = new ArrayList<Proof>();
    for (Kind kind : Kind.values()) {
      List<String> patterns = kinds.texts(kind.word(), MOST_PATTERNS);
      if (!patterns.isEmpty()) {
        proofs.add(new Proof(kind, patterns));
      }
    }
    if (proofs.stream().noneMatch(proof -> proof.kind().isProof()) && kinds.isGood()) {
      String rule =
          "names of devices and interfaces alone prove no provider; add files, labels, product,"
              + " vendors, environment or gpus";
      flaws.add(new Flaw(kinds.at(), kinds.path(), rule));
    }
    return new Evidence(proofs);
  }

  private Optional<Script> script(RecipeFields fields) {
    Optional<RecipeFields> found = fields.section("script");
    if (found.isEmpty()) {
      return Optional.empty();
    }
    RecipeFields script = found.get();
    script.only(List.of("path", "why"));
    Optional<String> file = script.needed("path");
    Optional<String> why = script.needed("why");
    if (file.isPresent() && !PATH.matcher(file.get()).matches()) {
      script.flaw("path", "must be an absolute path without spaces");
    }
    return file.flatMap(each -> why.map(reason -> new Script(each, reason)));
  }

  private List<Setting> settings(RecipeFields fields) {
    Optional<RecipeFields> found = fields.section("set");
    if (found.isEmpty()) {
      return List.of();
    }
    var settings = new ArrayList<Setting>();
    List<Yaml.Entry> entries = found.get().entries();
    if (entries.size() > MOST_SETTINGS) {
      fields.flaw("set", "has more than " + MOST_SETTINGS + " variables");
    }
    for (Yaml.Entry entry : entries.stream().limit(MOST_SETTINGS).toList()) {
      setting(found.get().path() + "." + entry.key(), entry).ifPresent(settings::add);
    }
    return settings;
  }

  private Optional<Setting> setting(String at, Yaml.Entry entry) {
    String name = entry.key();
    if (!VARIABLE.matcher(name).matches() || !FAMILY.matcher(name).matches()) {
      String rule =
          "is no variable of NCCL and what it uses (NCCL_*, UCX_*, FI_*, GLOO_*, CUDA_* …)";
      flaws.add(new Flaw(entry.at(), at, rule));
      return Optional.empty();
    }
    if (!(entry.value() instanceof Yaml.Mapping mapping)) {
      flaws.add(
          new Flaw(entry.value().at(), at, "must have value and why: {value: \"4\", why: …}"));
      return Optional.empty();
    }
    var setting = new RecipeFields(at, mapping, flaws);
    setting.only(List.of("value", "why"));
    Optional<String> value = setting.needed("value");
    Optional<String> why = setting.needed("why");
    return value.flatMap(each -> why.map(reason -> new Setting(name, each, reason)));
  }
}
