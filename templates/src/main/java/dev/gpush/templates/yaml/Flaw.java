package dev.gpush.templates.yaml;

import java.util.Optional;

/** One thing wrong in one file; {@code key} is dotted, and empty for what concerns no key. */
public record Flaw(Position at, String key, String what, Optional<String> suggestion) {
  public Flaw(Position at, String key, String what) {
    this(at, key, what, Optional.empty());
  }
}
