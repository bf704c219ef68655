package dev.gpush.chaos;

import java.util.Map;
import java.util.TreeMap;

/** How often what has happened. Thread-safe. */
final class Counts {
  // guarded by this
  private final Map<String, Integer> counts = new TreeMap<>();

  void add(String what) {
    add(what, 1);
  }

  synchronized void add(String what, int many) {
    counts.merge(what, many, Integer::sum);
  }

  @Override
  public synchronized String toString() {
    return counts.toString();
  }
}
