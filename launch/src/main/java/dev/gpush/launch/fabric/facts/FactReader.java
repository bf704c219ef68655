package dev.gpush.launch.fabric.facts;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.CleanText;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads one JSON object that came from a node. A wrong type reads as absent; texts and lists are
 * limited.
 */
record FactReader(Json json) {
  /** A machine with more of anything is no machine; what is beyond is not looked at. */
  private static final int MOST_ITEMS = 1024;

  /** Longer texts are no names, paths or values of these variables. */
  private static final int MOST_TEXT = 1024;

  /** No rate of a real machine is larger. */
  private static final double MOST_GBITS = 1e6;

  boolean has(String key) {
    return json.get(key).isPresent();
  }

  Optional<String> text(String key) {
    return json.text(key).map(FactReader::clean);
  }

  private static String clean(String text) {
    return CleanText.line(text, MOST_TEXT);
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
    return json.real(key).filter(rate -> rate > 0 && rate <= MOST_GBITS);
  }

  Optional<Long> whole(String key) {
    return json.get(key)
        .flatMap(
            value ->
                value instanceof Json.Int(var number) ? Optional.of(number) : Optional.empty());
  }

  /** The texts of a list; others in it are left out. */
  List<String> texts(String key) {
    return json.texts(key).stream().limit(MOST_ITEMS).map(FactReader::clean).toList();
  }

  /** The objects of a list; others in it are left out. */
  List<FactReader> objects(String key) {
    return json.items(key).stream()
        .filter(Json.Obj.class::isInstance)
        .limit(MOST_ITEMS)
        .map(FactReader::new)
        .toList();
  }

  /** Whether the key holds a list: a wrong type is not the same as an empty one. */
  boolean isList(String key) {
    return json.get(key).map(value -> value instanceof Json.Arr).orElse(false);
  }

  FactReader object(String key) {
    return new FactReader(json.object(key));
  }

  /** The text fields of this object. */
  Map<String, String> textMap() {
    var map = new LinkedHashMap<String, String>();
    json.textMap().entrySet().stream()
        .limit(MOST_ITEMS)
        .forEach(field -> map.put(clean(field.getKey()), clean(field.getValue())));
    return map;
  }

  /** The names of this object's fields. */
  List<String> keys() {
    return json.entries().keySet().stream().limit(MOST_ITEMS).toList();
  }

  /** All texts under a key, be it one, a list, or an object of texts. */
  List<String> anyTexts(String key) {
    return Stream.of(text(key).stream().toList(), texts(key), object(key).textMap().values())
        .flatMap(texts -> texts.stream())
        .toList();
  }
}
