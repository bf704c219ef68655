package dev.gpush.sync;

import dev.gpush.sync.Versions.Item;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** All trees of the model, by their places. */
record World(Map<Integer, Map<String, Item>> trees) {
  Map<String, Item> of(int place) {
    return Objects.requireNonNull(trees.get(place));
  }

  Map<String, Item> laptop() {
    return of(Versions.LAPTOP);
  }

  /** The paths at which the trees of nodes are not that of the laptop. */
  Set<String> differences() {
    var paths = new TreeSet<String>();
    trees.values().forEach(tree -> paths.addAll(Versions.differences(laptop(), tree)));
    return paths;
  }
}
