package dev.gpush.templates.schema;

import dev.gpush.core.json.Json;
import dev.gpush.templates.yaml.Position;
import dev.gpush.templates.yaml.Yaml;

/** A value that a file gives: read and as written; {@code at} is the position of its key. */
public record Found(Key key, String path, Position at, Json value, Yaml source) {
  /** As people write it. */
  public String text() {
    return ValueText.of(key.type(), value);
  }

  /** The same with another value. */
  public Found with(Json other) {
    return new Found(key, path, at, other, source);
  }
}
