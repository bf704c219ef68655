package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Version;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
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

  /**
   * How a path differs from what we wrote.
   *
   * @param seconds when it was changed, by the node's clock; 0 when nothing is there
   */
  public record Deviation(Version now, long seconds) {
    private static final int PARTS = 5;

    private static final long LATEST = Instant.MAX.getEpochSecond();

    /** As a node says it; 0, too, for a time that no clock has shown. */
    static long seconds(Json said) {
      return said instanceof Json.Int(var number) && number > -LATEST && number < LATEST
          ? number
          : 0;
    }

    public static Deviation missing() {
      return new Deviation(new Version.Absent(), 0);
    }

    public boolean isMissing() {
      return now.isAbsent();
    }

    /** The state in INDEX, and what is there now; empty for a path that is unchanged. */
    static Optional<Deviation> parse(String path, String state, Json now) {
      return switch (state) {
        case "missing" -> Optional.of(missing());
        case "changed", "mode" -> Optional.of(parse(path, now.items()));
        default -> Optional.empty();
      };
    }

    static Deviation parse(String path, List<Json> now) {
      if (now.size() < PARTS) {
        return new Deviation(new Version.Unread("it cannot be read"), 0);
      }
      if (now.getFirst().asText().equals(Optional.of("folder"))) {
        return missing(); // What is in it are other paths.
      }
      var item = new ArrayList<Json>(List.of(Json.of(path)));
      item.addAll(now.subList(0, PARTS - 1));
      Optional<Version> known = Entry.parse(item).map(Version.Known::new);
      boolean isFile = now.getFirst().asText().equals(Optional.of("file"));
      String whyNot = isFile ? "it is too large, or cannot be read" : "it is no file";
      return new Deviation(
          known.orElseGet(() -> new Version.Unread(whyNot)), seconds(now.get(PARTS - 1)));
    }
  }

  static NodeHolds nothing() {
    return new NodeHolds(
        Generation.none(), Manifest.empty(), Map.of(), Set.of(), "", Set.of(), false);
  }

  /** What is at a path of ours now. */
  public Version now(String path) {
    Deviation deviation = deviations.get(path);
    return deviation == null ? Version.of(manifest.get(path)) : deviation.now();
  }

  /** Paths at which nothing is. */
  public Set<String> missing() {
    return deviations.entrySet().stream()
        .filter(each -> each.getValue().isMissing())
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /** The same node with these as well; its own list has a limit. */
  NodeHolds withStaged(Collection<String> more) {
    var all = new HashSet<String>(staged);
    all.addAll(more);
    return new NodeHolds(generation, manifest, deviations, all, token, seen, folds);
  }

  /** The same node with these deviations only. */
  NodeHolds with(Map<String, Deviation> now) {
    return new NodeHolds(generation, manifest, now, staged, token, seen, folds);
  }

  /**
   * The same node with what was known before of the paths that were not looked at.
   *
   * @param looked paths of which this is what is there now
   */
  NodeHolds since(NodeHolds before, Collection<String> looked) {
    var all = new HashMap<String, Deviation>(before.deviations);
    all.keySet().removeAll(Set.copyOf(looked));
    all.putAll(deviations);
    return new NodeHolds(generation, manifest, all, staged, token, seen, folds);
  }

  /** Whether all but these paths are as they are wanted. */
  public boolean isExactly(Manifest wanted, Set<String> except) {
    return manifest.root().equals(wanted.root()) && except.containsAll(deviations.keySet());
  }

  /**
   * The same node after it has committed.
   *
   * @param left paths that were left as they are
   */
  NodeHolds moved(Generation to, Manifest written, Set<String> left) {
    var still = new HashMap<String, Deviation>();
    for (String path : left) {
      Version now = now(path);
      Optional<Entry> entry = written.get(path);
      if (entry.isPresent() && !now.is(Version.of(entry))) {
        // What gpush wrote there earlier may be replaced, as nothing may.
        still.put(path, deviations.getOrDefault(path, Deviation.missing()));
      }
    }
    return new NodeHolds(to, written, still, Set.of(), token, seen, folds);
  }
}
