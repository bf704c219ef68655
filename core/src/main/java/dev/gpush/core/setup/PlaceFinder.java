package dev.gpush.core.setup;

import java.util.List;

/** Knows one kind of place that may have GPUs. Thread-safe. */
@FunctionalInterface
public interface PlaceFinder {
  /** What could be looked at. Reads files only: no program is started, no machine is asked. */
  List<PlaceCheck> checks(SetupQuestion question);

  /** What it looks for, in the plural. */
  default String kind() {
    return "places";
  }
}
