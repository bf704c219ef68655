package dev.gpush.templates.yaml;

import java.util.List;
import java.util.Set;

/** A YAML value and its position. Scalars stay text; the schema decides what they mean. */
public sealed interface Yaml {
  Position at();

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
