package dev.gpush.sync.node;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Which nodes have one and the same folder: of these one writes and the others only look.
 *
 * @param groups the first of each writes
 */
public record FileSystems(List<List<NodeConversation>> groups) {
  /**
   * @param editNode writes wherever it is: what people edit there is decided about
   */
  public static FileSystems of(List<NodeConversation> nodes, int editNode) {
    var groups = new ArrayList<List<NodeConversation>>();
    for (NodeConversation node : nodes) {
      var joined = new ArrayList<NodeConversation>();
      for (List<NodeConversation> group : List.copyOf(groups)) {
        if (group.stream().anyMatch(other -> share(other.holds(), node.holds()))) {
          joined.addAll(group);
          groups.remove(group);
        }
      }
      joined.add(node);
      joined.sort(Comparator.comparing(each -> each.index() != editNode));
      groups.add(joined);
    }
    return new FileSystems(groups);
  }

  public List<NodeConversation> writers() {
    return groups.stream().map(List::getFirst).toList();
  }

  public List<NodeConversation> followers() {
    return groups.stream().flatMap(group -> group.stream().skip(1)).toList();
  }

  /** It is enough that one sees the other: the first could not see the second. */
  private static boolean share(NodeHolds one, NodeHolds other) {
    return one.seen().contains(other.token()) || other.seen().contains(one.token());
  }
}
