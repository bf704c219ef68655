package dev.gpush.sync.node;

import dev.gpush.sync.node.Blobs.Base;
import dev.gpush.sync.tree.Entry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;

/** What nodes have in the place of what they get. */
public final class Bases {
  private static final Base NONE = new Base("", "");

  private Bases() {}

  /** For each content that replaces another one, if all these nodes have that one. */
  public static Map<String, Base> of(Map<NodeConversation, SyncPlan> plans) {
    var bases = new HashMap<String, Base>();
    var differing = new HashSet<String>();
    plans.forEach(
        (node, plan) ->
            plan.writes()
                .forEach(
                    (path, entry) -> {
                      if (entry instanceof Entry.File(_, _, var hash)) {
                        Base base = base(path, node.holds()).orElse(NONE);
                        Base before = bases.putIfAbsent(hash, base);
                        if (before != null && !before.equals(base)) {
                          differing.add(hash);
                        }
                      }
                    }));
    bases.keySet().removeAll(differing);
    bases.values().removeIf(NONE::equals);
    return bases;
  }

  /** A file of another user, or that was changed, is none. */
  private static Optional<Base> base(String path, NodeHolds holds) {
    return !holds.deviations().containsKey(path)
            && holds.manifest().get(path).orElse(null) instanceof Entry.File(_, _, var hash)
        ? Optional.of(new Base(path, hash))
        : Optional.empty();
  }
}
