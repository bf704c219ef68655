package dev.gpush.sync;

import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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

  /** Begins again, with what is on nodes only. */
  void since(World world) {
    paths.clear();
    paths.addAll(world.differences());
  }

  /** Those that no person or program has changed. */
  Set<String> unexplained(Stream<String> some) {
    return some.filter(path -> !explain(path)).collect(Collectors.toCollection(TreeSet::new));
  }

  /** Whether it was changed, or what is in its way or below it. */
  private boolean explain(String path) {
    String below = paths.ceiling(path + "/");
    boolean isChanged = paths.contains(path) || (below != null && below.startsWith(path + "/"));
    for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      isChanged |= paths.contains(path.substring(0, end));
    }
    return isChanged;
  }
}
