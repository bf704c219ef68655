package dev.gpush.core.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A JSON value. Integers stay integers (64 bit); objects keep the order of their keys.
 *
 * <p>Reading asks with a default or an {@link Optional}, because most objects come from elsewhere:
 * {@code json.text("code").orElse("unknown")}. A wrong type reads as absent.
 */
public sealed interface Json {

  record Null() implements Json {}

  record Bool(boolean value) implements Json {}

  record Int(long value) implements Json {}

  record Real(double value) implements Json {}

  record Text(String value) implements Json {}

  record Arr(List<Json> items) implements Json {
    public Arr {
      items = List.copyOf(items);
    }
  }

  record Obj(Map<String, Json> fields) implements Json {
    public Obj {
      fields = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(fields));
    }

    /** This object with one more (or one other) field. */
    public Obj with(String key, Object value) {
      var copy = new LinkedHashMap<>(fields);
      copy.put(key, Json.of(value));
      return new Obj(copy);
    }

    public Obj without(String key) {
      var copy = new LinkedHashMap<>(fields);
      copy.remove(key);
      return new Obj(copy);
    }
  }

  /** Key, value, key, value …; values as {@link #of} takes them. */
  static Obj object(Object... keysAndValues) {
    if (keysAndValues.length % 2 != 0) {
      throw new IllegalArgumentException("a key without a value");
    }
    var fields = new LinkedHashMap<String, Json>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      fields.put((String) keysAndValues[i], of(keysAndValues[i + 1]));
    }
    return new Obj(fields);
  }

  static Arr array(List<?> items) {
    return new Arr(items.stream().map(Json::of).toList());
  }

  /**
   * Wraps a Java value: Json, String, Integer, Long, Double, Boolean, List, Map with string keys,
   * or Optional (empty is null).
   */
  static Json of(Object value) {
    return switch (value) {
      case Json json -> json;
      case String text -> new Text(text);
      case Integer number -> new Int(number);
      case Long number -> new Int(number);
      case Double number -> new Real(number);
      case Boolean truth -> new Bool(truth);
      case Optional<?> maybe -> maybe.isPresent() ? of(maybe.get()) : new Null();
      case List<?> items -> array(items);
      case Map<?, ?> map -> {
        var fields = new LinkedHashMap<String, Json>();
        map.forEach((key, item) -> fields.put((String) key, of(item)));
        yield new Obj(fields);
      }
      default -> throw new IllegalArgumentException("not a JSON value: " + value.getClass());
    };
  }

  static Json parse(String text) {
    return new JsonParser(text).parse();
  }

  /** One line, no spaces. */
  default String write() {
    return new JsonWriter(false).write(this);
  }

  /** Indented by two spaces, for people and for {@code --json}. */
  default String pretty() {
    return new JsonWriter(true).write(this);
  }

  default Optional<Json> get(String key) {
    return this instanceof Obj(var fields)
        ? Optional.ofNullable(fields.get(key)).filter(value -> !(value instanceof Null))
        : Optional.empty();
  }

  default Optional<String> text(String key) {
    return get(key)
        .flatMap(value -> value instanceof Text(var text) ? Optional.of(text) : Optional.empty());
  }

  default Optional<Long> number(String key) {
    return get(key)
        .flatMap(
            value ->
                switch (value) {
                  case Int(var number) -> Optional.of(number);
                  case Real(var number) -> Optional.of((long) number);
                  case Null _, Bool _, Text _, Arr _, Obj _ -> Optional.empty();
                });
  }

  /** A number that does not fit reads as absent, as a wrong type does. */
  default Optional<Integer> integer(String key) {
    return number(key).filter(number -> number == number.intValue()).map(Long::intValue);
  }

  default Optional<Double> real(String key) {
    return get(key).flatMap(Json::asReal);
  }

  /** This value if it is a number. */
  default Optional<Double> asReal() {
    return switch (this) {
      case Int(var number) -> Optional.of((double) number);
      case Real(var number) -> Optional.of(number);
      case Null _, Bool _, Text _, Arr _, Obj _ -> Optional.empty();
    };
  }

  default boolean flag(String key) {
    return get(key).map(value -> value instanceof Bool(var truth) && truth).orElse(false);
  }

  /** The items of the array under this key; empty when there is none. */
  default List<Json> items(String key) {
    return get(key).map(Json::items).orElse(List.of());
  }

  default List<Json> items() {
    return this instanceof Arr(var items) ? items : List.of();
  }

  /** The text items of the array under this key. */
  default List<String> texts(String key) {
    var texts = new ArrayList<String>();
    for (Json item : items(key)) {
      if (item instanceof Text(var text)) {
        texts.add(text);
      }
    }
    return List.copyOf(texts);
  }

  default Obj object(String key) {
    return get(key).map(value -> value instanceof Obj object ? object : object()).orElse(object());
  }

  /** The fields of this object; empty for anything else. */
  default Map<String, Json> entries() {
    return this instanceof Obj(var fields) ? fields : Map.of();
  }

  /** This value if it is text. */
  default Optional<String> asText() {
    return this instanceof Text(var text) ? Optional.of(text) : Optional.empty();
  }

  /** Text fields of this object as a map; other fields are left out. */
  default Map<String, String> textMap() {
    var map = new LinkedHashMap<String, String>();
    entries().forEach((key, value) -> value.asText().ifPresent(text -> map.put(key, text)));
    return map;
  }
}
