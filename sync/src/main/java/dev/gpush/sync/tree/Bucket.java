package dev.gpush.sync.tree;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** Some entries of a manifest, sorted by path. Never changed. */
final class Bucket {
  static final Bucket NONE = new Bucket(new String[0], new Entry[0], 0);

  private final String[] paths;
  private final Entry[] entries;
  private final int size;

  /**
   * @param size how many items of the arrays count
   */
  private Bucket(String[] paths, Entry[] entries, int size) {
    this.paths = paths.length == size ? paths : Arrays.copyOf(paths, size);
    this.entries = entries.length == size ? entries : Arrays.copyOf(entries, size);
    this.size = size;
  }

  int size() {
    return size;
  }

  Optional<Entry> get(String path) {
    int at = Arrays.binarySearch(paths, path, Manifest.ORDER);
    return at < 0 ? Optional.empty() : Optional.of(entries[at]);
  }

  /**
   * The same with these changes.
   *
   * @param changes sorted by {@link Manifest#ORDER}; empty: the path is gone
   */
  Bucket after(SortedMap<String, Optional<Entry>> changes) {
    var nextPaths = new String[size + changes.size()];
    var nextEntries = new Entry[nextPaths.length];
    int from = 0;
    int to = 0;
    for (Map.Entry<String, Optional<Entry>> change : changes.entrySet()) {
      String path = change.getKey();
      int at = Arrays.binarySearch(paths, from, size, path, Manifest.ORDER);
      int end = at < 0 ? -at - 1 : at;
      System.arraycopy(paths, from, nextPaths, to, end - from);
      System.arraycopy(entries, from, nextEntries, to, end - from);
      to += end - from;
      from = at < 0 ? end : end + 1;
      if (change.getValue().isPresent()) {
        nextPaths[to] = path;
        nextEntries[to++] = change.getValue().get();
      }
    }
    System.arraycopy(paths, from, nextPaths, to, size - from);
    System.arraycopy(entries, from, nextEntries, to, size - from);
    to += size - from;
    return to == 0 ? NONE : new Bucket(nextPaths, nextEntries, to);
  }

  /** Adds the paths that are not the same in both. */
  void addDifferences(Bucket other, List<String> to) {
    int here = 0;
    int there = 0;
    while (here < size || there < other.size) {
      int order =
          here == size
              ? 1
              : there == other.size ? -1 : Manifest.ORDER.compare(paths[here], other.paths[there]);
      if (order != 0) {
        to.add(order < 0 ? paths[here] : other.paths[there]);
      } else if (!entries[here].equals(other.entries[there])) {
        to.add(paths[here]);
      }
      here += order <= 0 ? 1 : 0;
      there += order >= 0 ? 1 : 0;
    }
  }

  /** Adds the paths of files with this content. */
  void addPathsOf(String hash, List<String> to) {
    for (int i = 0; i < size; i++) {
      if (entries[i] instanceof Entry.File(_, _, var content) && content.equals(hash)) {
        to.add(paths[i]);
      }
    }
  }

  void addAll(Map<String, Entry> to) {
    for (int i = 0; i < size; i++) {
      to.put(paths[i], entries[i]);
    }
  }

  /** Of its lines. */
  byte[] hash(ManifestLines lines) {
    for (int i = 0; i < size; i++) {
      lines.add(paths[i], entries[i]);
    }
    return lines.hash();
  }
}
