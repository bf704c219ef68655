package dev.gpush.sync;

import dev.gpush.core.failure.SyncFailure.Conflict;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Edits that an editor has made on node 0 in files that are here as they were sent. They come home
 * and go to the other nodes; every other difference blocks the push. Pure.
 *
 * @param edits at least one
 */
record EditsThere(List<Edit> edits) {
  /** The node on which editors work. */
  static final int NODE = 0;

  /**
   * A file of the workspace.
   *
   * @param sent what is here, and was on node 0
   */
  record Edit(String path, Entry.File sent) {}

  EditsThere {
    edits = List.copyOf(edits);
  }

  List<String> paths() {
    return edits.stream().map(Edit::path).toList();
  }

  /**
   * Those edits, if there are no other conflicts.
   *
   * @param holds what the nodes with conflicts hold, and node 0, by their numbers
   */
  static Optional<EditsThere> of(
      Manifest wanted, Map<Integer, NodeHolds> holds, List<Conflict> conflicts) {
    Optional<NodeHolds> first = Optional.ofNullable(holds.get(NODE));
    if (first.isEmpty() || conflicts.isEmpty()) {
      return Optional.empty();
    }
    var edits = new ArrayList<Edit>();
    for (Conflict conflict : conflicts) {
      String path = conflict.path();
      Optional<Entry> sent = first.get().manifest().get(path);
      Optional<String> now = edited(first.get(), path);
      boolean isAsSent = sent.isPresent() && sent.equals(wanted.get(path));
      boolean isAlike =
          now.isPresent()
              && now.equals(edited(holds.getOrDefault(conflict.node(), first.get()), path));
      if (!isAsSent || !isAlike || !(sent.get() instanceof Entry.File file)) {
        return Optional.empty();
      }
      if (conflict.node() == NODE) {
        edits.add(new Edit(path, file));
      }
    }
    return Optional.of(new EditsThere(edits));
  }

  /** The hash of a file that was changed there. */
  private static Optional<String> edited(NodeHolds holds, String path) {
    return holds.deviations().get(path) instanceof NodeHolds.Deviation.Changed(var hash)
        ? hash
        : Optional.empty();
  }
}
