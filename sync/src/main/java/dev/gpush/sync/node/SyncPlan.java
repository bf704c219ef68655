package dev.gpush.sync.node;

import dev.gpush.core.failure.SyncFailure.Conflict;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import java.util.ArrayList;
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

/**
 * The steps that make one node hold the wanted manifest. Pure: no clock, no I/O.
 *
 * <p>The plan never replaces a path with bytes that gpush did not write, unless {@code overwrite};
 * the node checks the same again before it touches anything, and only it sees files that are in the
 * way and not in its manifest.
 *
 * @param writes entries that are not there as wanted
 * @param deletes paths of the node's manifest that are no longer wanted; the node deletes those
 *     that are unchanged and forgets all
 * @param kept those of {@code deletes} that were changed there, and stay
 * @param blobs contents that must be sent first
 * @param clashes wanted names that would be one file on the node's file system
 */
public record SyncPlan(
    SortedMap<String, Entry> writes,
    List<String> deletes,
    List<String> kept,
    List<Conflict> conflicts,
    Set<String> blobs,
    List<String> clashes) {
  public SyncPlan {
    deletes = List.copyOf(deletes);
    kept = List.copyOf(kept);
    conflicts = List.copyOf(conflicts);
    blobs = Set.copyOf(blobs);
    clashes = List.copyOf(clashes);
  }

  public static SyncPlan plan(int node, Manifest wanted, NodeHolds holds, boolean overwrite) {
    if (holds.isExactly(wanted)) {
      return new SyncPlan(
          new TreeMap<>(), List.of(), List.of(), List.of(), Set.of(), clashes(wanted, holds));
    }
    var planner = new Planner(node, wanted, holds, overwrite);
    // A path that is the same in both and as it was written needs nothing.
    var paths = new TreeSet<String>(Manifest.ORDER);
    paths.addAll(wanted.differences(holds.manifest()));
    paths.addAll(holds.deviations().keySet());
    for (String path : paths) {
      Optional<Entry> entry = wanted.get(path);
      if (entry.isPresent()) {
        planner.want(path, entry.orElseThrow());
      } else if (holds.manifest().get(path).isPresent()) {
        planner.unwanted(path);
      }
    }
    return planner.plan();
  }

  /**
   * Names of which the node keeps only one when it takes "Makefile" and "makefile" for the same.
   */
  private static List<String> clashes(Manifest wanted, NodeHolds holds) {
    if (!holds.folds()) {
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
   * A plan that writes less.
   *
   * @param left paths that are left as they are there
   * @param isThere paths whose contents are there already
   */
  public SyncPlan without(Set<String> left, Predicate<String> isThere) {
    var less = new TreeMap<String, Entry>(writes);
    left.forEach(less::remove);
    var needed = new HashSet<String>();
    less.forEach(
        (path, entry) -> {
          if (!isThere.test(path) && entry instanceof Entry.File(_, _, var hash)) {
            needed.add(hash);
          }
        });
    needed.retainAll(blobs);
    return new SyncPlan(less, deletes, kept, conflicts, needed, clashes);
  }

  /** The plan in the making. */
  private static final class Planner {
    private final int node;
    private final Manifest wanted;
    private final NodeHolds holds;
    private final boolean overwrite;
    private final SortedMap<String, Entry> writes = new TreeMap<>(Manifest.ORDER);
    private final List<String> deletes = new ArrayList<>();
    private final List<String> kept = new ArrayList<>();
    private final SortedMap<String, String> conflicts = new TreeMap<>(Manifest.ORDER);
    private final Set<String> blobs = new HashSet<>();

    Planner(int node, Manifest wanted, NodeHolds holds, boolean overwrite) {
      this.node = node;
      this.wanted = wanted;
      this.holds = holds;
      this.overwrite = overwrite;
    }

    void want(String path, Entry entry) {
      Optional<Entry> base = holds.manifest().get(path);
      Optional<NodeHolds.Deviation> deviation = Optional.ofNullable(holds.deviations().get(path));
      if (base.isEmpty() || deviation.isEmpty()) {
        if (!base.equals(Optional.of(entry))) {
          write(path, entry, isSameContent(base, entry));
        }
        return;
      }
      switch (deviation.orElseThrow()) {
        case NodeHolds.Deviation.Missing _ -> write(path, entry, false);
        case NodeHolds.Deviation.OtherMode _ -> write(path, entry, isSameContent(base, entry));
        case NodeHolds.Deviation.Changed changed -> {
          if (overwrite || changed.is(entry)) {
            write(path, entry, changed.is(entry));
          } else {
            conflicts.put(path, "changed");
          }
        }
      }
    }

    private static boolean isSameContent(Optional<Entry> base, Entry entry) {
      return base.isPresent()
          && base.orElseThrow() instanceof Entry.File(_, _, var old)
          && entry instanceof Entry.File(_, _, var hash)
          && old.equals(hash);
    }

    private void write(String path, Entry entry, boolean isThere) {
      writes.put(path, entry);
      if (!isThere && entry instanceof Entry.File(_, _, var hash)) {
        blobs.add(hash);
      }
    }

    void unwanted(String path) {
      deletes.add(path);
      if (!(holds.deviations().get(path) instanceof NodeHolds.Deviation.Changed)) {
        return;
      }
      kept.add(path);
      if (overwrite) {
        return;
      }
      if (wanted.hasFolder(path)) {
        conflicts.put(path, "parent");
      }
      for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        String folder = path.substring(0, end);
        if (wanted.get(folder).isPresent()) {
          conflicts.put(folder, "type");
        }
      }
    }

    SyncPlan plan() {
      var found = new ArrayList<Conflict>();
      conflicts.forEach((path, why) -> found.add(new Conflict(node, path, why)));
      blobs.removeAll(holds.staged());
      if (!blobs.isEmpty()) {
        removeWhatIsThere();
      }
      return new SyncPlan(writes, deletes, kept, found, blobs, clashes(wanted, holds));
    }

    /** The node copies what it holds under another name: a rename costs no transfer. */
    private void removeWhatIsThere() {
      for (Map.Entry<String, Entry> held : holds.manifest().entries().entrySet()) {
        NodeHolds.Deviation deviation = holds.deviations().get(held.getKey());
        boolean isOurs = deviation == null || deviation instanceof NodeHolds.Deviation.OtherMode;
        if (isOurs && held.getValue() instanceof Entry.File(_, _, var hash)) {
          blobs.remove(hash);
        }
      }
    }
  }
}
