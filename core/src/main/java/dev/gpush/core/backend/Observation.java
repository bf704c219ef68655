package dev.gpush.core.backend;

/** What a backend knows of a gang. "Cannot tell" is never "gone". */
public sealed interface Observation {
  record Exists() implements Observation {}

  record Gone(String reason) implements Observation {}

  record CannotTell(String reason) implements Observation {}
}
