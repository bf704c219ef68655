package dev.gpush.templates.schema;

import dev.gpush.core.json.Json;
import java.util.Set;

/**
 * One key of the schema.
 *
 * @param path dotted; {@code *} stands for any backend's name
 * @param setting the effective setting that it sets, or the path itself
 * @param builtIn the value when no file gives one; null in the sense of JSON when there is none
 * @param support whether it works already
 * @param says its description in the reference; empty if it has no effect yet
 */
public record Key(
    String path,
    String setting,
    ValueType type,
    Set<Place> places,
    Json builtIn,
    Support support,
    String says) {
  public Key {
    places = Set.copyOf(places);
  }

  public boolean isSupported() {
    return support instanceof Support.Full;
  }

  /** The last word of the path. */
  public String word() {
    return path.substring(path.lastIndexOf('.') + 1);
  }
}
