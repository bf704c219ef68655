package dev.gpush.sync.node;

import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Version;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The steps that make one node hold a manifest. Pure: no clock, no I/O.
 *
 * <p>What becomes of a path was decided before ({@link dev.gpush.sync.tree.Merge}). The node still
 * replaces nothing that gpush did not write there and that is not in {@code trash}, and only it
 * sees files that are in the way and not in its manifest.
 *
 * @param writes entries that are not there as wanted
 * @param deletes paths of the node's manifest that are no longer wanted; the node deletes those
 *     that are unchanged and forgets all
 * @param entries of paths that stay as they are: only the node's manifest gets them
 * @param trash paths at which everything goes to the trash before it is replaced or deleted
 * @param blobs contents that must be sent first
 * @param clashes wanted names that would be one file on the node's file system
 */
public record SyncPlan(
    SortedMap<String, Entry> writes,
    List<String> deletes,
    SortedMap<String, Entry> entries,
    Set<String> trash,
    Set<String> blobs,
    List<String> clashes) {
  public SyncPlan {
    deletes = List.copyOf(deletes);
    trash = Set.copyOf(trash);
    blobs = Set.copyOf(blobs);
    clashes = List.copyOf(clashes);
  }

  /**
   * @param stays paths that are left as they are
   * @param trash paths at which what is there may exist nowhere else
   */
  public static SyncPlan plan(
      Manifest wanted, NodeHolds holds, Set<String> stays, Set<String> trash) {
    var planner = new Planner(wanted, holds, stays, trash);
    // A path that is the same in both and as it was written needs nothing.
    var paths = new TreeSet<String>(Manifest.ORDER);
    paths.addAll(wanted.differences(holds.manifest()));
    paths.addAll(holds.deviations().keySet());
    for (String path : paths) {
      Optional<Entry> entry = wanted.get(path);
      if (entry.isPresent()) {
        planner.want(path, entry.orElseThrow());
      } else if (holds.manifest().get(path).isPresent()) {
        planner.deletes.add(path);
      }
    }
    return planner.plan();
  }

  /** The same, whose every change keeps what was there. */
  public SyncPlan keeping(NodeHolds holds) {
    var kept = new HashSet<String>(trash);
    kept.addAll(deletes);
    writes.keySet().stream()
        .filter(path -> holds.manifest().get(path).isPresent())
        .forEach(kept::add);
    return new SyncPlan(writes, deletes, entries, kept, blobs, clashes);
  }

  /** How many of these nodes need each content. */
  public static Map<String, Integer> needs(Collection<SyncPlan> plans) {
    var needs = new HashMap<String, Integer>();
    plans.forEach(plan -> plan.blobs().forEach(hash -> needs.merge(hash, 1, Integer::sum)));
    return needs;
  }

  /** Paths at which nothing changes. */
  Set<String> stays() {
    return entries.keySet();
  }

  /**
   * Names of which the node keeps only one when it takes "Makefile" and "makefile" for the same.
   * Where it gets no new name, there are none.
   */
  private static List<String> clashes(Manifest wanted, NodeHolds holds, Stream<String> written) {
    if (!holds.folds() || written.allMatch(path -> holds.manifest().get(path).isPresent())) {
      return List.of();
    }
    var first = new HashMap<String, String>();
    var clashes = new TreeSet<String>(Manifest.ORDER);
    for (String path : wanted.entries().keySet()) {
      for (String name = path; ; name = name.substring(0, name.lastIndexOf('/'))) {
        String other = first.putIfAbsent(name.toLowerCase(Locale.ROOT), name);
        if (other != null && !other.equals(name)) {
          clashes.add(other);
          clashes.add(name);
        }
        if (other != null || name.indexOf('/') < 0) {
          break;
        }
      }
    }
    return List.copyOf(clashes);
  }

  /**
   * A plan that sends less.
   *
   * @param isThere paths whose contents are there already
   */
  public SyncPlan without(Predicate<String> isThere) {
    var needed = new HashSet<String>();
    writes.forEach(
        (path, entry) -> {
          if (!isThere.test(path) && entry instanceof Entry.File(_, _, var hash)) {
            needed.add(hash);
          }
        });
    needed.retainAll(blobs);
    return new SyncPlan(writes, deletes, entries, trash, needed, clashes);
  }

  /** The plan in the making. */
  private static final class Planner {
    private final Manifest wanted;
    private final NodeHolds holds;
    private final Set<String> stays;
    private final Set<String> trash;
    private final SortedMap<String, Entry> writes = new TreeMap<>(Manifest.ORDER);
    private final List<String> deletes = new ArrayList<>();
    private final SortedMap<String, Entry> entries = new TreeMap<>(Manifest.ORDER);
    private final Set<String> blobs = new HashSet<>();

    Planner(Manifest wanted, NodeHolds holds, Set<String> stays, Set<String> trash) {
      this.wanted = wanted;
      this.holds = holds;
      this.stays = stays;
      this.trash = trash;
    }

    void want(String path, Entry entry) {
      if (stays.contains(path)) {
        entries.put(path, entry);
        return;
      }
      Version now = holds.now(path);
      Version as = Version.of(Optional.of(entry));
      if (now.is(as) && holds.manifest().get(path).equals(Optional.of(entry))) {
        return;
      }
      writes.put(path, entry);
      if (!now.hasBytesOf(as) && entry instanceof Entry.File(_, _, var hash)) {
        blobs.add(hash);
      }
    }

    SyncPlan plan() {
      blobs.removeAll(holds.staged());
      if (!blobs.isEmpty()) {
        removeWhatIsThere();
      }
      Stream<String> written = Stream.concat(writes.keySet().stream(), entries.keySet().stream());
      return new SyncPlan(writes, deletes, entries, trash, blobs, clashes(wanted, holds, written));
    }

    private boolean isThere(String path) {
      return holds.now(path).hasBytesOf(Version.of(holds.manifest().get(path)));
    }

    /** The node copies what it holds under another name: a rename costs no transfer. */
    private void removeWhatIsThere() {
      blobs.removeIf(hash -> holds.manifest().pathsOf(hash).stream().anyMatch(this::isThere));
    }
  }
}
