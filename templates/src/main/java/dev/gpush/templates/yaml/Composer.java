package dev.gpush.templates.yaml;

import dev.gpush.templates.yaml.Yaml.Entry;
import dev.gpush.templates.yaml.Yaml.Mapping;
import dev.gpush.templates.yaml.Yaml.Scalar;
import dev.gpush.templates.yaml.Yaml.Sequence;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;

/**
 * Makes the tree of one document from the engine's events. An alias shares the tree it names, so a
 * bomb of aliases costs nothing here; the schema has no nesting that could unfold it.
 */
final class Composer {
  /** Deeper than any setting, far from the end of a thread's stack. */
  private static final int MOST_LEVELS = 32;

  private static final int MOST_VALUES = 10_000;

  /** A hundred mistakes are one mistake: the wrong file. */
  private static final int MOST_FLAWS = 100;

  private static final Yaml NOTHING = new Scalar(Position.START, "", true);

  private final List<Flaw> flaws = new ArrayList<>();
  private final Map<String, Yaml> anchors = new HashMap<>();
  private int values;

  List<Flaw> flaws() {
    return flaws;
  }

  Optional<Mapping> compose(Iterator<Event> events) {
    Optional<Mapping> content = Optional.empty();
    int documents = 0;
    while (events.hasNext() && values <= MOST_VALUES) {
      Event event = events.next();
      if (event.getEventId() == Event.ID.DocumentStart && ++documents > 1) {
        flaw(event, "", "a second document begins; one file holds one");
        return content;
      }
      if (event instanceof NodeEvent first) {
        Yaml root = node(first, events, "", 0);
        if (root instanceof Mapping mapping) {
          content = Optional.of(mapping);
        } else if (!(root instanceof Scalar scalar && scalar.isNothing())) {
          flaw(event, "", "must be keys with values, such as nodes: 2");
        }
      }
    }
    return content;
  }

  private Yaml node(Event event, Iterator<Event> events, String path, int level) {
    values++;
    if (values > MOST_VALUES) {
      if (values == MOST_VALUES + 1) {
        flaw(event, path, "more than " + MOST_VALUES + " values in one file");
      }
      return NOTHING;
    }
    Yaml node =
        switch (event) {
          case AliasEvent alias -> alias(alias, path);
          case ScalarEvent scalar -> scalar(scalar, path);
          case MappingStartEvent start -> mapping(start, events, path, level);
          case SequenceStartEvent start -> sequence(start, events, path, level);
          default -> throw new IllegalStateException("unexpected event " + event);
        };
    if (event instanceof NodeEvent named && !(event instanceof AliasEvent)) {
      named.getAnchor().ifPresent(anchor -> anchors.put(anchor.getValue(), node));
    }
    return node;
  }

  private Yaml alias(AliasEvent event, String path) {
    Optional<Yaml> found =
        event.getAnchor().flatMap(anchor -> Optional.ofNullable(anchors.get(anchor.getValue())));
    if (found.isEmpty()) {
      flaw(event, path, "refers to what is not above it");
      return NOTHING;
    }
    Position at = at(event);
    return switch (found.get()) {
      case Scalar(_, var text, var isPlain) -> new Scalar(at, text, isPlain);
      case Sequence(_, var items) -> new Sequence(at, items);
      case Mapping(_, var entries) -> new Mapping(at, entries);
    };
  }

  private Yaml scalar(ScalarEvent event, String path) {
    event
        .getTag()
        .ifPresent(tag -> flaw(event, path, "tags such as " + tag + " are not used here"));
    return new Scalar(at(event), event.getValue(), event.isPlain());
  }

  private Yaml sequence(SequenceStartEvent event, Iterator<Event> events, String path, int level) {
    if (tooDeep(event, events, path, level)) {
      return NOTHING;
    }
    var items = new ArrayList<Yaml>();
    for (Event next = events.next(); !ends(next); next = events.next()) {
      items.add(node(next, events, path, level + 1));
    }
    return new Sequence(at(event), items);
  }

  private Yaml mapping(MappingStartEvent event, Iterator<Event> events, String path, int level) {
    if (tooDeep(event, events, path, level)) {
      return NOTHING;
    }
    var entries = new LinkedHashMap<String, Entry>();
    for (Event next = events.next(); !ends(next); next = events.next()) {
      Yaml key = node(next, events, path, level + 1);
      Position at = at(next);
      String name = key instanceof Scalar scalar ? scalar.text() : "";
      String below = path.isEmpty() ? name : path + "." + name;
      if (!(key instanceof Scalar)) {
        flaw(next, path, "a key must be a word");
      }
      Yaml value = node(events.next(), events, below, level + 1);
      Entry first = entries.putIfAbsent(name, new Entry(at, name, value));
      if (first != null && key instanceof Scalar && values <= MOST_VALUES) {
        flaw(next, below, "is given twice, first in line " + first.at().line());
      }
    }
    return new Mapping(at(event), List.copyOf(entries.values()));
  }

  /** Says so and passes over what is inside. */
  private boolean tooDeep(
      CollectionStartEvent event, Iterator<Event> events, String path, int level) {
    event
        .getTag()
        .ifPresent(tag -> flaw(event, path, "tags such as " + tag + " are not used here"));
    if (level < MOST_LEVELS) {
      return false;
    }
    flaw(event, path, "is nested deeper than " + MOST_LEVELS + " levels");
    int open = 1;
    while (open > 0 && values++ <= MOST_VALUES) {
      Event next = events.next();
      open += next instanceof CollectionStartEvent ? 1 : ends(next) ? -1 : 0;
    }
    return true;
  }

  /**
   * Once there are too many values every collection ends where it is: the rest is not looked at.
   */
  private boolean ends(Event event) {
    return values > MOST_VALUES
        || event.getEventId() == Event.ID.MappingEnd
        || event.getEventId() == Event.ID.SequenceEnd;
  }

  private void flaw(Event event, String path, String what) {
    if (flaws.size() < MOST_FLAWS) {
      flaws.add(new Flaw(at(event), path, what));
    }
  }

  private static Position at(Event event) {
    return event.getStartMark().map(YamlReader::position).orElse(Position.START);
  }
}
