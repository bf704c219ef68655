package dev.gpush.sync;

import dev.gpush.core.failure.SyncFailure.Conflict;
import dev.gpush.sync.tree.Generation;
import java.util.List;
import java.util.Optional;

/** What all nodes hold, looked at just now: a launch goes ahead only when they agree. */
public record Fence(List<NodeState> nodes) {
  public Fence {
    nodes = List.copyOf(nodes);
  }

  /**
   * One node.
   *
   * @param drift paths that are not as the generation says; {@code why} is changed, missing or mode
   */
  public record NodeState(int node, Generation generation, List<Conflict> drift) {
    public NodeState {
      drift = List.copyOf(drift);
    }
  }

  /** The generation that every node holds, every path as written; empty when they differ. */
  public Optional<Generation> agreed() {
    List<Generation> found = nodes.stream().map(NodeState::generation).distinct().toList();
    return found.size() == 1 && drift().isEmpty()
        ? Optional.of(found.getFirst())
        : Optional.empty();
  }

  public List<Conflict> drift() {
    return nodes.stream().flatMap(node -> node.drift().stream()).toList();
  }
}
