package dev.gpush.templates.yaml;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A YAML value and its position. Scalars stay text; the schema decides what they mean. */
public sealed interface Yaml {
  Position at();

  /** The value of a key; empty where this is no mapping or does not have it. */
  default Optional<Yaml> get(String key) {
    return this instanceof Mapping(_, var entries)
        ? entries.stream().filter(entry -> entry.key().equals(key)).map(Entry::value).findFirst()
        : Optional.empty();
  }

  /** The text of a key; empty also for {@code key:} with nothing behind it. */
  default Optional<String> text(String key) {
    return get(key).flatMap(Yaml::asText);
  }

  /** The text, if it is one. */
  default Optional<String> asText() {
    return this instanceof Scalar scalar && !scalar.isNothing()
        ? Optional.of(scalar.text())
        : Optional.empty();
  }

  /** The items of a key; none where it is no list. */
  default List<Yaml> items(String key) {
    return get(key)
        .flatMap(
            value ->
                value instanceof Sequence(_, var items)
                    ? Optional.of(items)
                    : Optional.<List<Yaml>>empty())
        .orElse(List.of());
  }

  /** One word or text; {@code isPlain} without quotes, so that it may be a number or nothing. */
  record Scalar(Position at, String text, boolean isPlain) implements Yaml {
    private static final Set<String> NOTHING = Set.of("", "~", "null", "Null", "NULL");

    /** {@code key:} with nothing behind it. */
    public boolean isNothing() {
      return isPlain && NOTHING.contains(text);
    }
  }

  record Sequence(Position at, List<Yaml> items) implements Yaml {
    public Sequence {
      items = List.copyOf(items);
    }
  }

  /** Each key once, in the order of the file. */
  record Mapping(Position at, List<Entry> entries) implements Yaml {
    public Mapping {
      entries = List.copyOf(entries);
    }
  }

  record Entry(Position at, String key, Yaml value) {}
}
