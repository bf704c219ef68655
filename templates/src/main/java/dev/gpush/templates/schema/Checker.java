package dev.gpush.templates.schema;

import dev.gpush.core.text.Nearest;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.Yaml;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks one file against the schema: every key is known here, is not refused, and has a value of
 * its type. All flaws are found in one pass, the good values too.
 */
public final class Checker {
  /** Other tools' names for gpush's keys, where the spelling would suggest another key. */
  private static final Map<String, String> OTHER_NAMES =
      Map.of("backends.*.type", "kind", "backends.*.provider", "kind");

  private final Place place;
  private final List<Key> keys;
  private final List<Found> found = new ArrayList<>();
  private final List<Flaw> flaws = new ArrayList<>();

  private Checker(Place place) {
    this.place = place;
    this.keys = Schema.of(place);
  }

  public record Checked(List<Found> found, List<Flaw> flaws) {
    public Checked {
      found = List.copyOf(found);
      flaws = List.copyOf(flaws);
    }
  }

  public static Checked check(Place place, Yaml.Mapping content) {
    var checker = new Checker(place);
    checker.mapping("", "", content);
    return new Checked(checker.found, checker.flaws);
  }

  /**
   * @param path as the file has it
   * @param pattern the same with {@code *} for a backend's name
   */
  private void mapping(String path, String pattern, Yaml.Mapping mapping) {
    if (pattern.equals("backends.*") && !hasUsableKind(path, mapping)) {
      return;
    }
    for (Yaml.Entry entry : mapping.entries()) {
      if (entry.key().contains(".")) {
        dotted(path, pattern, entry);
      } else if (pattern.equals("backends") && place != Place.PROJECT) {
        block(path, entry);
      } else {
        entry(join(path, entry.key()), join(pattern, entry.key()), entry);
      }
    }
  }

  private void block(String path, Yaml.Entry entry) {
    String below = join(path, entry.key());
    if (!ValueReader.NAME.matcher(entry.key()).matches()) {
      flaws.add(new Flaw(entry.at(), below, "a backend's name is a-z, 0-9 and '-', at most 32"));
    } else if (entry.value() instanceof Yaml.Mapping mapping) {
      mapping(below, "backends.*", mapping);
    } else {
      flaws.add(new Flaw(entry.value().at(), below, "must be keys with values: {kind: local}"));
    }
  }

  /** Whether the keys of a block can be judged: those of a kind that comes later cannot. */
  private boolean hasUsableKind(String path, Yaml.Mapping mapping) {
    Optional<Yaml.Entry> kind =
        mapping.entries().stream().filter(entry -> entry.key().equals("kind")).findFirst();
    if (kind.isEmpty()) {
      boolean hasOtherName =
          mapping.entries().stream()
              .anyMatch(entry -> OTHER_NAMES.containsKey("backends.*." + entry.key()));
      if (!hasOtherName) {
        flaws.add(new Flaw(mapping.at(), path, "has no kind; write kind: local"));
      }
      return true;
    }
    var problems = new ArrayList<Flaw>();
    new ValueReader(path + ".kind", problems::add).read(Schema.KINDS, kind.get().value());
    flaws.addAll(problems);
    return problems.isEmpty();
  }

  private void entry(String path, String pattern, Yaml.Entry entry) {
    Optional<Key> key = keys.stream().filter(each -> each.path().equals(pattern)).findFirst();
    boolean isSection = keys.stream().anyMatch(each -> each.path().startsWith(pattern + "."));
    if (key.isPresent() && key.get().support() instanceof Support.Refused(var feature)) {
      flaws.add(new Flaw(entry.at(), path, "not supported yet: " + feature));
    } else if (key.isPresent() && key.get().support() instanceof Support.Removed(var instead)) {
      flaws.add(new Flaw(entry.at(), path, "was removed; " + instead));
    } else if (isSection && entry.value() instanceof Yaml.Mapping mapping) {
      mapping(path, pattern, mapping);
    } else if (key.isPresent()) {
      Key known = key.get();
      new ValueReader(path, flaws::add)
          .read(known.type(), entry.value())
          .ifPresent(value -> found.add(new Found(known, path, entry.at(), value, entry.value())));
    } else if (isSection) {
      section(path, pattern, entry);
    } else {
      unknown(path, pattern, entry);
    }
  }

  /** {@code lease.idle: 1h} reads well, but would give every key two spellings. */
  private void dotted(String path, String pattern, Yaml.Entry entry) {
    List<String> words = List.of(entry.key().split("\\.", -1));
    Optional<String> nested =
        Schema.find(place, join(pattern, entry.key()))
            .map(_ -> String.join(": {", words) + ": …" + "}".repeat(words.size() - 1));
    flaws.add(new Flaw(entry.at(), join(path, entry.key()), "unknown key", nested));
  }

  private void section(String path, String pattern, Yaml.Entry entry) {
    if (entry.value() instanceof Yaml.Scalar scalar && scalar.isNothing()) {
      return;
    }
    String examples = String.join(", ", below(pattern).toList());
    String which = examples.isEmpty() ? "hpc: {kind: local}" : examples;
    flaws.add(new Flaw(entry.value().at(), path, "must be keys with values: " + which));
  }

  private void unknown(String path, String pattern, Yaml.Entry entry) {
    Optional<Place> elsewhere =
        Stream.of(Place.values())
            .filter(other -> !other.equals(place) && hasKey(other, pattern))
            .findFirst();
    if (elsewhere.isPresent()) {
      String what = "belongs in " + elsewhere.get().file() + ", not in " + place.file();
      Optional<String> moved = sameWord(entry.key());
      flaws.add(new Flaw(entry.at(), path, what, moved));
      return;
    }
    String parent = pattern.contains(".") ? pattern.substring(0, pattern.lastIndexOf('.')) : "";
    Optional<String> suggestion =
        Optional.ofNullable(OTHER_NAMES.get(pattern))
            .or(() -> Nearest.one(entry.key(), below(parent).toList()))
            .or(() -> sameWord(entry.key()));
    flaws.add(new Flaw(entry.at(), path, "unknown key", suggestion));
  }

  private static boolean hasKey(Place place, String pattern) {
    return Schema.of(place).stream()
        .filter(key -> !(key.support() instanceof Support.Removed))
        .anyMatch(key -> key.path().equals(pattern) || key.path().startsWith(pattern + "."));
  }

  /** A key of this file whose last word is this one: {@code idle} is {@code lease.idle}. */
  private Optional<String> sameWord(String word) {
    return keys.stream()
        .filter(key -> key.word().equals(word) && !key.path().contains(Schema.ANY))
        .map(Key::path)
        .findFirst();
  }

  /** The words that may stand directly under a path. */
  private Stream<String> below(String pattern) {
    String prefix = pattern.isEmpty() ? "" : pattern + ".";
    return keys.stream()
        .filter(key -> !(key.support() instanceof Support.Removed))
        .map(Key::path)
        .filter(path -> path.startsWith(prefix))
        .map(path -> path.substring(prefix.length()).replaceFirst("\\..*", ""))
        .filter(word -> !word.equals(Schema.ANY))
        .distinct();
  }

  private static String join(String path, String key) {
    return path.isEmpty() ? key : path + "." + key;
  }
}
