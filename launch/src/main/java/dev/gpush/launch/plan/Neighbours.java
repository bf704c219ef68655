package dev.gpush.launch.plan;

import dev.gpush.core.gang.NodeInfo;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;

/**
 * The order in which nodes get their ranks: those of one rack follow each other, and racks of one
 * block, because neighbouring ranks communicate most. Node 0 stays first, followed by its
 * neighbours.
 */
final class Neighbours {
  private Neighbours() {}

  static List<NodeInfo> ordered(List<NodeInfo> nodes) {
    return ordered(nodes, 0);
  }

  private static List<NodeInfo> ordered(List<NodeInfo> nodes, int level) {
    boolean isOver =
        nodes.size() < 2 || nodes.stream().allMatch(each -> each.within().size() <= level);
    if (isOver) {
      return nodes;
    }
    var parts = new LinkedHashMap<String, List<NodeInfo>>();
    for (NodeInfo node : nodes) {
      String part = level < node.within().size() ? node.within().get(level) : "";
      parts.computeIfAbsent(part, _ -> new ArrayList<>()).add(node);
    }
    var ordered = new ArrayList<NodeInfo>();
    parts.values().forEach(part -> ordered.addAll(ordered(part, level + 1)));
    return ordered;
  }
}
