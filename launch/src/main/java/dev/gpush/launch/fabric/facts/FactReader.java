package dev.gpush.launch.fabric.facts;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.CleanText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads one JSON object that came from a node. A wrong type reads as absent and is noted; texts and
 * lists are limited.
 */
final class FactReader {
  /** A machine with more of anything is no machine; what is beyond is not looked at. */
  private static final int MOST_ITEMS = 1024;

  /** Longer texts are no names, paths or values of these variables. */
  private static final int MOST_TEXT = 1024;

  /** A node may be wrong in everything: the first few say enough. */
  private static final int MOST_MISTAKES = 20;

  /** No rate, size or number of a real machine is larger. */
  private static final double MOST_GBITS = 1e6;

  private final Json json;
  private final String path;
  private final List<String> mistakes;

  FactReader(Json json, String path, List<String> mistakes) {
    this.json = json;
    this.path = path;
    this.mistakes = mistakes;
  }

  boolean has(String key) {
    return json.get(key).isPresent();
  }

  Optional<String> text(String key) {
    Optional<Json> value = json.get(key);
    if (value.isPresent() && value.get().asText().isEmpty()) {
      mistake(key, "is no text");
    }
    return json.text(key).map(text -> CleanText.line(text, MOST_TEXT));
  }

  /** Text, or empty. */
  String word(String key) {
    return text(key).orElse("");
  }

  boolean flag(String key) {
    return json.flag(key);
  }

  /** A rate of a link; absent where it is not positive: sysfs says -1 when a link is down. */
  Optional<Double> rate(String key) {
    Optional<Json> value = json.get(key);
    double number =
        switch (value.orElse(new Json.Null())) {
          case Json.Int(var whole) -> whole;
          case Json.Real(var real) -> real;
          case Json.Null _ -> 0;
          case Json.Bool _, Json.Text _, Json.Arr _, Json.Obj _ -> Double.NaN;
        };
    if (!(number <= MOST_GBITS)) {
      mistake(key, "is no rate");
      return Optional.empty();
    }
    return number > 0 ? Optional.of(number) : Optional.empty();
  }

  Optional<Long> whole(String key) {
    Optional<Json> value = json.get(key);
    if (value.isEmpty()) {
      return Optional.empty();
    }
    if (value.get() instanceof Json.Int(var number)) {
      return Optional.of(number);
    }
    mistake(key, "is no whole number");
    return Optional.empty();
  }

  /** The texts of a list; others in it are left out. */
  List<String> texts(String key) {
    var texts = new ArrayList<String>();
    for (Json item : items(key)) {
      if (item instanceof Json.Text(var text)) {
        texts.add(CleanText.line(text, MOST_TEXT));
      } else {
        mistake(key, "has an entry that is no text");
      }
    }
    return texts;
  }

  /** The objects of a list; others in it are left out. */
  List<FactReader> objects(String key) {
    var objects = new ArrayList<FactReader>();
    for (Json item : items(key)) {
      if (item instanceof Json.Obj) {
        objects.add(new FactReader(item, join(key), mistakes));
      } else {
        mistake(key, "has an entry that is no object");
      }
    }
    return objects;
  }

  /** Whether the key holds a list: a wrong type is not the same as an empty one. */
  boolean isList(String key) {
    return json.get(key).map(value -> value instanceof Json.Arr).orElse(false);
  }

  FactReader object(String key) {
    Optional<Json> value = json.get(key);
    if (value.isPresent() && !(value.get() instanceof Json.Obj)) {
      mistake(key, "is no object");
    }
    return new FactReader(json.object(key), join(key), mistakes);
  }

  /** The text fields of this object. */
  Map<String, String> textMap() {
    var map = new LinkedHashMap<String, String>();
    json.textMap().entrySet().stream()
        .limit(MOST_ITEMS)
        .forEach(
            field ->
                map.put(
                    CleanText.line(field.getKey(), MOST_TEXT),
                    CleanText.line(field.getValue(), MOST_TEXT)));
    return map;
  }

  /** The names of this object's fields. */
  List<String> keys() {
    return json.entries().keySet().stream().limit(MOST_ITEMS).toList();
  }

  /** All texts under a key, be it one, a list, or an object of texts. */
  List<String> anyTexts(String key) {
    Json value = json.get(key).orElse(new Json.Null());
    return switch (value) {
      case Json.Text _ -> text(key).stream().toList();
      case Json.Arr _ -> texts(key);
      case Json.Obj _ -> List.copyOf(object(key).textMap().values());
      case Json.Null _, Json.Bool _, Json.Int _, Json.Real _ -> List.of();
    };
  }

  private List<Json> items(String key) {
    Optional<Json> value = json.get(key);
    if (value.isPresent() && !(value.get() instanceof Json.Arr)) {
      mistake(key, "is no list");
    }
    List<Json> items = json.items(key);
    if (items.size() > MOST_ITEMS) {
      mistake(key, "has more than " + MOST_ITEMS + " entries");
    }
    return items.stream().limit(MOST_ITEMS).toList();
  }

  void mistake(String key, String what) {
    String text = join(key) + " " + what;
    if (mistakes.size() < MOST_MISTAKES && !mistakes.contains(text)) {
      mistakes.add(text);
    }
  }

  private String join(String key) {
    return path.isEmpty() ? key : path + "." + key;
  }
}
