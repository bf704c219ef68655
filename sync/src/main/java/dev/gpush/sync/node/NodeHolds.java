package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a node holds.
 *
 * @param manifest what gpush wrote there last
 * @param deviations where the tree differs from the manifest now
 * @param staged contents left there by an unfinished push
 * @param token names this view of the state folder; {@code seen} are those found in it: a node that
 *     sees another's token shares a file system with it
 * @param folds names that differ in case are one file there
 */
public record NodeHolds(
    Generation generation,
    Manifest manifest,
    Map<String, Deviation> deviations,
    Set<String> staged,
    String token,
    Set<String> seen,
    boolean folds) {
  public NodeHolds {
    deviations = Map.copyOf(deviations);
    staged = Set.copyOf(staged);
    seen = Set.copyOf(seen);
  }

  /** How a path differs from what we wrote. */
  public sealed interface Deviation {
    /** Nothing is there, or its folder is no longer a folder. */
    record Missing() implements Deviation {}

    /**
     * Something else is there.
     *
     * @param hash of what is there now, if it is a file that could be read
     */
    record Changed(Optional<String> hash) implements Deviation {
      boolean is(Entry entry) {
        return entry instanceof Entry.File(_, _, var wanted) && hash.equals(Optional.of(wanted));
      }
    }

    /** The content is ours, only the executable bit was changed. */
    record OtherMode() implements Deviation {}

    /** The state in INDEX; empty for a path that is unchanged. */
    static Optional<Deviation> parse(String state, Json now) {
      return switch (state) {
        case "missing" -> Optional.of(new Missing());
        case "changed" -> Optional.of(new Changed(now.asText()));
        case "mode" -> Optional.of(new OtherMode());
        default -> Optional.empty();
      };
    }
  }

  /** Paths at which nothing is. */
  public Set<String> missing() {
    return deviations.entrySet().stream()
        .filter(each -> each.getValue() instanceof Deviation.Missing)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  public boolean isExactly(Manifest wanted) {
    return deviations.isEmpty() && manifest.root().equals(wanted.root());
  }

  /** The same node with these as well; its own list has a limit. */
  NodeHolds withStaged(Collection<String> more) {
    var all = new HashSet<String>(staged);
    all.addAll(more);
    return new NodeHolds(generation, manifest, deviations, all, token, seen, folds);
  }

  /** The same node after it has committed. */
  NodeHolds moved(Generation to, Manifest written) {
    return new NodeHolds(to, written, Map.of(), Set.of(), token, seen, folds);
  }
}
