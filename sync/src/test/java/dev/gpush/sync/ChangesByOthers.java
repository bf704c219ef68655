package dev.gpush.sync;

import dev.gpush.sync.Versions.Item;
import java.util.Collection;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * Paths that people and programs have changed on nodes since all sides were the same. Only these
 * may come home, be held, or be on a node and not on the laptop: of everything else gpush has
 * written each version itself.
 */
final class ChangesByOthers {
  private final NavigableSet<String> paths = new TreeSet<>();

  void add(Set<String> changed) {
    paths.addAll(changed);
  }

  /**
   * Begins again.
   *
   * @param nodes what is there, of which some may not be the laptop's
   */
  void since(Map<String, Item> laptop, Collection<Map<String, Item>> nodes) {
    paths.clear();
    nodes.forEach(node -> paths.addAll(Versions.differences(laptop, node)));
  }

  /** Whether it was changed, or what is in its way or below it. */
  boolean explain(String path) {
    String below = paths.ceiling(path + "/");
    boolean isChanged = paths.contains(path) || (below != null && below.startsWith(path + "/"));
    for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      isChanged |= paths.contains(path.substring(0, end));
    }
    return isChanged;
  }
}
