package dev.gpush.templates.yaml;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.JacksonYAMLParseException;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.gpush.templates.yaml.Source.Written;
import dev.gpush.templates.yaml.Yaml.Entry;
import dev.gpush.templates.yaml.Yaml.Mapping;
import dev.gpush.templates.yaml.Yaml.Scalar;
import dev.gpush.templates.yaml.Yaml.Sequence;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Makes the tree of one document from the parser's tokens. The type of a token, such as a number or
 * a date, is ignored: its text is kept. An alias shares the tree that it names, so nested aliases
 * cost no memory; the schema has no nesting that would expand them.
 */
final class Composer {
  static final int MOST_VALUES = 10_000;

  /** Deeper than any setting, and far from a stack overflow. */
  private static final int MOST_LEVELS = 32;

  /** A file with a hundred mistakes is the wrong file. */
  private static final int MOST_FLAWS = 100;

  private final YAMLParser tokens;
  private final Source source;
  private final List<Flaw> flaws = new ArrayList<>();
  private final Map<String, Yaml> anchors = new HashMap<>();
  private int values;

  /** All open collections end here, and the rest of the file is ignored. */
  private boolean isOver;

  Composer(YAMLParser tokens, Source source) {
    this.tokens = tokens;
    this.source = source;
  }

  List<Flaw> flaws() {
    return flaws;
  }

  /**
   * The content, if it is a mapping; what is wrong in it is among the flaws.
   *
   * @throws JacksonYAMLParseException when the text is not YAML
   */
  Optional<Mapping> compose() throws IOException {
    JsonToken first = next("");
    if (first == JsonToken.NOT_AVAILABLE) {
      noDirectives();
      return Optional.empty();
    }
    Position at = at();
    Yaml root = node(first, "", 0);
    if (!(root instanceof Mapping || (root instanceof Scalar scalar && scalar.isNothing()))) {
      flaw(at, "", "must be keys with values, such as nodes: 2");
    }
    if (!isOver) {
      noSecondDocument();
    }
    return root instanceof Mapping mapping ? Optional.of(mapping) : Optional.empty();
  }

  private void noDirectives() {
    OptionalInt directive = source.nextDocument(0);
    if (directive.isPresent() && !isOver) {
      flaw(source.position(directive.getAsInt()), "", "a directive without a document");
    }
  }

  /** A second document is not read. */
  private void noSecondDocument() throws IOException {
    String what = "a second document starts; a file has only one";
    OptionalInt mark = source.nextDocument(index(tokens.currentLocation()));
    if (mark.isPresent()) {
      flaw(source.position(mark.getAsInt()), "", what);
    } else if (next("") != JsonToken.NOT_AVAILABLE) {
      flaw(at(), "", what);
    }
  }

  private Yaml node(JsonToken token, String path, int level) throws IOException {
    Position at = at();
    values++;
    if (values > MOST_VALUES && !isOver) {
      flaw(at, path, "more than " + MOST_VALUES + " values in one file");
      isOver = true;
    }
    if (isOver) {
      return nothing(at);
    }
    if (token.isScalarValue()) {
      return tokens.isCurrentAlias() ? alias(at, path) : scalar(at, path);
    }
    Optional<String> anchor = Optional.ofNullable(tokens.getObjectId());
    Yaml node = collection(token, at, path, level);
    anchor.ifPresent(name -> anchors.put(name, node));
    return node;
  }

  private Yaml alias(Position at, String path) throws IOException {
    return switch (anchors.get(tokens.getText())) {
      case null -> {
        flaw(at, path, "refers to an anchor that is not defined above it");
        yield nothing(at);
      }
      case Scalar(_, var text, var isPlain) -> new Scalar(at, text, isPlain);
      case Sequence(_, var items) -> new Sequence(at, items);
      case Mapping(_, var entries) -> new Mapping(at, entries);
    };
  }

  /** A value, or a key. */
  private Scalar scalar(Position at, String path) throws IOException {
    int start = index(tokens.currentTokenLocation());
    Written written = source.written(start, index(tokens.currentLocation()));
    written.tag().ifPresent(tag -> tag(at, path, tag));
    var scalar = new Scalar(at, tokens.getText(), written.isPlain());
    written.anchor().ifPresent(name -> anchors.put(name, scalar));
    return scalar;
  }

  private Yaml collection(JsonToken start, Position at, String path, int level) throws IOException {
    if (tokens.getTypeId() != null) {
      int index = index(tokens.currentTokenLocation());
      tag(at, path, source.written(index, source.length()).tag().orElse(tokens.getTypeId()));
    }
    if (level >= MOST_LEVELS) {
      flaw(at, path, "is nested deeper than " + MOST_LEVELS + " levels");
      pass(path);
      return nothing(at);
    }
    return start == JsonToken.START_ARRAY ? sequence(at, path, level) : mapping(at, path, level);
  }

  private Sequence sequence(Position at, String path, int level) throws IOException {
    var items = new ArrayList<Yaml>();
    for (JsonToken next = next(path); !ends(next); next = next(path)) {
      items.add(node(next, path, level + 1));
    }
    return new Sequence(at, items);
  }

  private Mapping mapping(Position start, String path, int level) throws IOException {
    var entries = new LinkedHashMap<String, Entry>();
    for (JsonToken next = next(path); !ends(next); next = next(path)) {
      values++;
      Position at = at();
      String name = scalar(at, path).text();
      String below = path.isEmpty() ? name : path + "." + name;
      Yaml value = node(next(below), below, level + 1);
      if (isOver && value instanceof Scalar) {
        break; // Not its value: nothing more was read.
      }
      Entry first = entries.putIfAbsent(name, new Entry(at, name, value));
      if (first != null) {
        flaw(at, below, "is given twice, first in line " + first.at().line());
      }
    }
    return new Mapping(start, List.copyOf(entries.values()));
  }

  /** Passes over what is inside the collection that begins. */
  private void pass(String path) throws IOException {
    int open = 1;
    while (open > 0 && !isOver) {
      JsonToken next = next(path);
      open += next.isStructStart() ? 1 : next.isStructEnd() ? -1 : 0;
      values++;
      isOver = isOver || values > MOST_VALUES;
    }
  }

  private boolean ends(JsonToken token) {
    return isOver || token.isStructEnd();
  }

  /** {@code NOT_AVAILABLE} at the end of the file, and when this is over. */
  private JsonToken next(String path) throws IOException {
    if (isOver) {
      return JsonToken.NOT_AVAILABLE;
    }
    try {
      JsonToken token = tokens.nextToken();
      if (token != null) {
        return token;
      }
      if (!tokens.isClosed()) {
        odd(path);
      }
    } catch (JacksonYAMLParseException notYaml) {
      throw notYaml;
    } catch (JsonProcessingException notJson) {
      odd(path);
    }
    return JsonToken.NOT_AVAILABLE;
  }

  /** The parser cannot continue after a key that is not a word, or a tag in a wrong form. */
  private void odd(String path) {
    Position at = at();
    source
        .written(index(tokens.currentTokenLocation()), source.length())
        .tag()
        .ifPresentOrElse(tag -> tag(at, path, tag), () -> flaw(at, path, "a key must be a word"));
    isOver = true;
  }

  private void tag(Position at, String path, String tag) {
    flaw(at, path, "tags such as " + tag + " are not supported");
  }

  private void flaw(Position at, String path, String what) {
    if (flaws.size() < MOST_FLAWS) {
      flaws.add(new Flaw(at, path, what));
    }
  }

  private static Yaml nothing(Position at) {
    return new Scalar(at, "", true);
  }

  private Position at() {
    JsonLocation start = tokens.currentTokenLocation();
    return new Position(start.getLineNr(), start.getColumnNr());
  }

  private static int index(JsonLocation location) {
    return (int) location.getCharOffset();
  }
}
