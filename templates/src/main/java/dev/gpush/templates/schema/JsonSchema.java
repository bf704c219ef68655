package dev.gpush.templates.schema;

import dev.gpush.core.file.WholeFile;
import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The schema of one kind of file as JSON Schema, for editors: they complete keys, show what each
 * means, and mark mistakes while the file is written. It refuses no file that gpush accepts as
 * people write it; what it cannot say (a backend that exists, a key given twice) only gpush finds.
 */
public final class JsonSchema {
  /** Below GPUSH_HOME. */
  private static final String FOLDER = "schema";

  private static final String BACKENDS = "backends";

  private final List<Key> keys;

  private JsonSchema(Place place) {
    // A key that is refused or was removed is unknown to editors.
    this.keys =
        Schema.of(place).stream()
            .filter(key -> key.isSupported() || key.support() instanceof Support.Unsupported)
            .toList();
  }

  public static Json.Obj of(Place place) {
    return Json.object(
            "$schema", "http://json-schema.org/draft-07/schema#",
            "title", place.file(),
            "description", place.purpose())
        .with("type", List.of("object", "null"))
        .with("properties", new JsonSchema(place).properties(""))
        .with("additionalProperties", false);
  }

  /** Where the schema is, seen from GPUSH_HOME: {@code schema/config.json}. */
  public static String file(Place place) {
    return FOLDER + "/" + place.file().replace(".yaml", ".json");
  }

  /** The first line of a file beside {@link #FOLDER}, by which editors find the schema. */
  public static String modeline(Place place) {
    return "# yaml-language-server: $schema=" + file(place) + "\n";
  }

  /** Writes those files that are not as this version has them. */
  public static void write(Path home) throws IOException {
    WholeFile.makeFolder(home.resolve(FOLDER));
    for (Place place : Place.values()) {
      byte[] text = (of(place).write() + "\n").getBytes(StandardCharsets.UTF_8);
      Path file = home.resolve(file(place));
      if (!Files.exists(file) || !Arrays.equals(Files.readAllBytes(file), text)) {
        WholeFile.write(file, text, WholeFile.PRIVATE);
      }
    }
  }

  /** What may be under a path; empty: at the top. */
  private Json.Obj properties(String path) {
    String prefix = path.isEmpty() ? "" : path + ".";
    Map<String, Json> properties = new LinkedHashMap<>();
    for (Key key : keys) {
      if (key.path().startsWith(prefix)) {
        String word = key.path().substring(prefix.length()).replaceFirst("\\..*", "");
        properties.computeIfAbsent(word, _ -> value(prefix + word));
      }
    }
    return new Json.Obj(properties);
  }

  private Json.Obj value(String path) {
    if (path.equals(BACKENDS) && has(BACKENDS + "." + Schema.ANY)) {
      return backends();
    }
    Optional<Key> own = keys.stream().filter(key -> key.path().equals(path)).findFirst();
    if (own.isEmpty()) {
      // A section without keys sets nothing.
      return section(path).with("type", List.of("object", "null"));
    }
    Json.Obj value = ValueSchema.of(own.get().type());
    Json.Obj described = Json.object("description", description(own.get()));
    Json.Obj all =
        has(path) ? described.with("anyOf", List.of(value, section(path))) : join(described, value);
    return builtIn(own.get()).map(text -> all.with("default", text)).orElse(all);
  }

  private boolean has(String path) {
    return keys.stream().anyMatch(key -> key.path().startsWith(path + "."));
  }

  private Json.Obj section(String path) {
    return Json.object(
        "type", "object", "properties", properties(path), "additionalProperties", false);
  }

  private Json.Obj backends() {
    return Json.object(
        "type", List.of("object", "null"),
        "description", "the places that gpush may ask for nodes, by their names",
        "propertyNames", ValueSchema.matching(ValueReader.NAME),
        "additionalProperties",
            section(BACKENDS + "." + Schema.ANY).with("required", List.of("kind")));
  }

  private static String description(Key key) {
    String says =
        key.support() instanceof Support.Unsupported(var effect)
            ? "without effect yet: " + effect
            : key.says();
    return says + "\n\nmust be " + key.type().words();
  }

  /** As people write it. */
  private static Optional<Json> builtIn(Key key) {
    return switch (key.builtIn()) {
      case Json.Null _ -> Optional.empty();
      case Json.Int number when key.type() instanceof ValueType.Whole -> Optional.of(number);
      case Json.Arr(var items) -> {
        var texts = new ArrayList<Json>();
        items.forEach(item -> texts.add(Json.of(ValueText.of(key.type(), item))));
        yield Optional.of(Json.array(texts));
      }
      case Json.Int _, Json.Text _, Json.Real _, Json.Bool _, Json.Obj _ ->
          Optional.of(Json.of(ValueText.of(key.type(), key.builtIn())));
    };
  }

  private static Json.Obj join(Json.Obj first, Json.Obj second) {
    var all = new LinkedHashMap<>(first.entries());
    all.putAll(second.entries());
    return new Json.Obj(all);
  }
}
