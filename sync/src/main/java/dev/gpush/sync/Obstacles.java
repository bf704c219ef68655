package dev.gpush.sync;

import dev.gpush.sync.node.Prepared.Obstacle;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What nodes have refused, which their manifests do not say. Guarded by the lock of {@link
 * WorkspaceSync}.
 */
final class Obstacles {
  private final int editNode;
  private final Map<String, Obstacle> all = new TreeMap<>();
  private final Map<String, String> refused = new TreeMap<>();
  private Set<String> held = Set.of();

  /**
   * @param editNode the node where people edit
   */
  Obstacles(int editNode) {
    this.editNode = editNode;
  }

  /** What of the editors' node cannot be on the laptop. */
  void refuse(String path, String why) {
    refused.put(path, why);
  }

  Map<String, String> refused() {
    return Map.copyOf(refused);
  }

  /**
   * Without the editors' node, what was held with it last stays held: the version there may still
   * differ.
   *
   * @param nodes that take part
   */
  List<Obstacle> among(Collection<Integer> nodes) {
    var found = new TreeMap<>(all);
    if (!nodes.contains(editNode)) {
      held.forEach(
          path -> found.putIfAbsent(path, new Obstacle(editNode, path, Decisions.LATE, 0)));
    }
    return List.copyOf(found.values());
  }

  /** With what a push begins, and what was found beside that; these stay as they are. */
  Obstacles begun(List<Obstacle> more) {
    var begun = new Obstacles(editNode);
    begun.all.putAll(all);
    begun.forgetRefused();
    begun.held = held;
    begun.add(more);
    return begun;
  }

  /** Whether one of them says that the nodes have to be looked at again. */
  boolean add(List<Obstacle> refused) {
    refused.forEach(each -> all.put(each.path(), each));
    return refused.stream().anyMatch(each -> each.why().equals(Decisions.LATE));
  }

  /** Whether the node did not get it with a push, which its manifest does not say. */
  boolean isLate(int node, String path) {
    return Optional.ofNullable(all.get(path))
        .filter(each -> each.node() == node && each.why().equals(Decisions.LATE))
        .isPresent();
  }

  /** Whether they are still there the next push finds out. */
  void forgetRefused() {
    all.values().removeIf(each -> !each.why().equals(Decisions.LATE));
    refused.clear();
  }

  /**
   * Forgets what was refused for this reason, where that is over.
   *
   * @return whether there was any
   */
  boolean forgetRefused(String why, Predicate<String> isOver) {
    return refused
        .entrySet()
        .removeIf(each -> each.getValue().equals(why) && isOver.test(each.getKey()));
  }

  /** A user has decided about these, and what was there is here. */
  void forget(Collection<String> paths) {
    all.keySet().removeAll(paths);
  }

  /**
   * Those that are no longer held are over. What a node has that took no part, nobody knows.
   *
   * @param nodes that took part
   */
  void retain(Collection<String> held, Collection<Integer> nodes) {
    all.values().removeIf(each -> nodes.contains(each.node()) && !held.contains(each.path()));
    if (nodes.contains(editNode)) {
      refused.keySet().retainAll(held);
      this.held = Set.copyOf(held);
    }
  }
}
