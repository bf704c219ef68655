package dev.gpush.templates.schema;

import dev.gpush.core.text.Nearest;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.Position;
import dev.gpush.templates.yaml.Yaml;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The keys of one mapping; what is wrong with one is added to the flaws, with its place. */
final class RecipeFields {
  /** One line of text: reasons are shown in a table, values go into an environment. */
  private static final int MOST_TEXT = 1000;

  private final String path;
  private final Yaml.Mapping mapping;
  private final List<Flaw> flaws;
  private final int before;

  RecipeFields(String path, Yaml.Mapping mapping, List<Flaw> flaws) {
    this.path = path;
    this.mapping = mapping;
    this.flaws = flaws;
    this.before = flaws.size();
  }

  String path() {
    return path;
  }

  Position at() {
    return mapping.at();
  }

  List<Yaml.Entry> entries() {
    return mapping.entries();
  }

  /** Whether no flaw was found since this was made. */
  boolean isGood() {
    return flaws.size() == before;
  }

  boolean has(String key) {
    return find(key).isPresent();
  }

  void flaw(String key, String what) {
    Yaml.Entry entry = find(key).orElseThrow();
    flaws.add(new Flaw(entry.value().at(), path + "." + key, what));
  }

  /** Every other key is a flaw. */
  void only(List<String> known) {
    for (Yaml.Entry entry : mapping.entries()) {
      if (!known.contains(entry.key())) {
        Optional<String> nearest = Nearest.one(entry.key(), known);
        String what =
            nearest.isPresent() ? "unknown key" : "unknown key; known: " + String.join(", ", known);
        flaws.add(new Flaw(entry.at(), path + "." + entry.key(), what, nearest));
      }
    }
  }

  /** A text that must be there. */
  Optional<String> needed(String key) {
    if (!has(key)) {
      flaws.add(new Flaw(mapping.at(), path, "has no " + key));
    }
    return text(key);
  }

  Optional<String> text(String key) {
    return find(key).flatMap(entry -> line(key, entry.value()));
  }

  boolean yes(String key) {
    Optional<String> word = text(key);
    if (word.isPresent() && !List.of("true", "false").contains(word.get())) {
      flaw(key, "must be true or false, not " + word.get());
    }
    return word.isPresent() && word.get().equals("true");
  }

  /** One text or a list of them; empty when the key is missing or has a flaw. */
  List<String> texts(String key, int most) {
    Optional<Yaml.Entry> entry = find(key);
    if (entry.isEmpty()) {
      return List.of();
    }
    if (!(entry.get().value() instanceof Yaml.Sequence(_, var items))) {
      return line(key, entry.get().value()).stream().toList();
    }
    if (items.isEmpty() || items.size() > most) {
      flaw(key, "must have 1 to " + most + " entries, not " + items.size());
      return List.of();
    }
    var texts = new ArrayList<String>();
    items.forEach(item -> line(key, item).ifPresent(texts::add));
    return texts;
  }

  /** The keys under this one. */
  Optional<RecipeFields> section(String key) {
    Optional<Yaml.Entry> entry = find(key);
    if (entry.isEmpty()) {
      return Optional.empty();
    }
    if (entry.get().value() instanceof Yaml.Mapping below) {
      return Optional.of(new RecipeFields(path + "." + key, below, flaws));
    }
    flaw(key, "must be keys with values");
    return Optional.empty();
  }

  private Optional<String> line(String key, Yaml yaml) {
    if (!(yaml instanceof Yaml.Scalar scalar)) {
      flaws.add(new Flaw(yaml.at(), path + "." + key, "must be text"));
      return Optional.empty();
    }
    String text = scalar.text().strip();
    boolean isLine = text.chars().noneMatch(each -> each < ' ' || each == 0x7f);
    if (text.isEmpty() || text.length() > MOST_TEXT || !isLine) {
      String rule = "must be one line of 1 to " + MOST_TEXT + " characters";
      flaws.add(new Flaw(yaml.at(), path + "." + key, rule));
      return Optional.empty();
    }
    return Optional.of(text);
  }

  private Optional<Yaml.Entry> find(String key) {
    return mapping.entries().stream().filter(entry -> entry.key().equals(key)).findFirst();
  }
}
