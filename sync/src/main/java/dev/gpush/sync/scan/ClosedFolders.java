package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What was sent of folders that cannot be read now: it stays as it was, as it must not look
 * deleted. Not thread-safe.
 */
final class ClosedFolders {
  private Set<String> closed = Set.of();
  private final Set<String> kept = new HashSet<>();

  /** These cannot be read now. */
  void are(Set<String> folders) {
    closed = folders;
  }

  /** Whether a file that is not found is one of them. */
  boolean keeps(String path) {
    return isBelow(path) && kept.add(path);
  }

  private boolean isBelow(String path) {
    if (closed.isEmpty()) {
      return false;
    }
    for (int end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      if (closed.contains(path.substring(0, end))) {
        return true;
      }
    }
    return closed.contains(path);
  }

  /** Those that were kept, and need not be any more. */
  List<String> reopened() {
    List<String> open = kept.stream().filter(path -> !isBelow(path)).toList();
    open.forEach(kept::remove);
    return open;
  }

  /**
   * Everything was looked at: keeps what there was.
   *
   * @param before the tree at the last look; empty at the first
   * @throws GpushException something of them was sent, and it is not known any more what
   */
  void keep(Manifest before, HashCache cache, Manifest.Draft next) {
    kept.clear();
    SortedMap<String, Entry> all = closed.isEmpty() ? new TreeMap<>() : before.entries();
    for (String folder : closed) {
      var was = new TreeMap<>(all.subMap(folder + "/", folder + "0")); // 0 comes after the slash.
      before.get(folder).ifPresent(entry -> was.put(folder, entry));
      if (was.isEmpty() && cache.has(folder)) {
        throw new GpushException(
            new SyncFailure.Unreadable(folder, "it cannot be read, and was sent before"));
      }
      was.forEach(next::put);
      was.keySet().forEach(cache::keep);
      kept.addAll(was.keySet());
    }
  }
}
