package dev.gpush.sync.tree;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One state of a tree: path → entry, and the hash of it all. The next state shares with it what has
 * not changed, so a change costs what it changes and not what the tree has.
 */
public final class Manifest {
  /** Order of UTF-8 bytes, which is that of code points; Java's own order of UTF-16 is not. */
  public static final Comparator<String> ORDER = Manifest::compare;

  private static final Manifest EMPTY =
      new Manifest(Buckets.empty(), Buckets.empty(), ManifestRoot.empty(), 0);

  /** Of a hash: they say in which bucket its paths are. */
  private static final int HEX_DIGITS = 3;

  private final Buckets byPath;
  private final Buckets byContent;
  private final ManifestRoot hash;
  private final int size;

  private Manifest(Buckets byPath, Buckets byContent, ManifestRoot hash, int size) {
    this.byPath = byPath;
    this.byContent = byContent;
    this.hash = hash;
    this.size = size;
  }

  public static Manifest of(Map<String, Entry> entries) {
    Draft draft = EMPTY.draft();
    entries.forEach(draft::put);
    return draft.done();
  }

  public static Manifest empty() {
    return EMPTY;
  }

  /** A copy of all, sorted by the paths' UTF-8 bytes. */
  public SortedMap<String, Entry> entries() {
    var sorted = new TreeMap<String, Entry>(ORDER);
    for (int number = 0; number < Buckets.COUNT; number++) {
      byPath.get(number).addAll(sorted);
    }
    return Collections.unmodifiableSortedMap(sorted);
  }

  public Optional<Entry> get(String path) {
    return byPath.get(ManifestRoot.bucket(path)).get(path);
  }

  /** The paths of the files with this content. */
  public List<String> pathsOf(String hash) {
    var paths = new ArrayList<String>();
    if (Hashes.isHash(hash)) {
      byContent.get(contentBucket(hash)).addPathsOf(hash, paths);
    }
    return paths;
  }

  private static int contentBucket(String hash) {
    return Integer.parseInt(hash, 0, HEX_DIGITS, 16) % Buckets.COUNT;
  }

  /** The next state in the making, from this one. */
  public Draft draft() {
    return new Draft(this);
  }

  /** One hash of all paths and their entries. */
  public String root() {
    return hash.text();
  }

  public int size() {
    return size;
  }

  /** The paths that are not the same in both, sorted. */
  public List<String> differences(Manifest other) {
    var paths = new ArrayList<String>();
    if (root().equals(other.root())) {
      return paths;
    }
    for (int number = 0; number < Buckets.COUNT; number++) {
      if (!hash.isSame(number, other.hash)) {
        byPath.get(number).addDifferences(other.byPath.get(number), paths);
      }
    }
    paths.sort(ORDER);
    return paths;
  }

  /** Changes of a manifest, which cost work in proportion to them. */
  public static final class Draft {
    private final Manifest before;
    private final Map<String, Optional<Entry>> changes = new HashMap<>();
    private int size;

    private Draft(Manifest before) {
      this.before = before;
      this.size = before.size;
    }

    public void put(String path, Entry entry) {
      change(path, Optional.of(entry));
    }

    public void remove(String path) {
      change(path, Optional.empty());
    }

    private void change(String path, Optional<Entry> to) {
      Optional<Entry> was = before.get(path);
      Optional<Entry> last = changes.getOrDefault(path, was);
      size += (to.isPresent() ? 1 : 0) - (last.isPresent() ? 1 : 0);
      if (to.equals(was)) {
        changes.remove(path);
      } else {
        changes.put(path, to);
      }
    }

    public int size() {
      return size;
    }

    public Manifest done() {
      if (changes.isEmpty()) {
        return before;
      }
      var paths = new Buckets.Changes();
      var contents = new Buckets.Changes();
      changes.forEach(
          (path, entry) -> {
            paths.put(ManifestRoot.bucket(path), path, entry);
            // First: what it had and what it has may be in one bucket.
            putContent(contents, path, before.get(path), Optional.empty());
            putContent(contents, path, entry, entry);
          });
      Buckets byPath = before.byPath.after(paths);
      return new Manifest(
          byPath,
          before.byContent.after(contents),
          before.hash.after(paths.buckets(), byPath),
          size);
    }

    private static void putContent(
        Buckets.Changes contents, String path, Optional<Entry> of, Optional<Entry> to) {
      if (of.orElse(null) instanceof Entry.File(_, _, var hash)) {
        contents.put(contentBucket(hash), path, to);
      }
    }
  }

  private static int compare(String left, String right) {
    int common = Math.min(left.length(), right.length());
    for (int i = 0; i < common; i++) {
      char a = left.charAt(i);
      char b = right.charAt(i);
      if (a != b) {
        boolean oneIsSurrogate = Character.isSurrogate(a) != Character.isSurrogate(b);
        return oneIsSurrogate ? (Character.isSurrogate(a) ? 1 : -1) : Character.compare(a, b);
      }
    }
    return Integer.compare(left.length(), right.length());
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Manifest manifest && manifest.root().equals(root());
  }

  @Override
  public int hashCode() {
    return root().hashCode();
  }

  @Override
  public String toString() {
    return size + " entries, root " + root().substring(0, 12);
  }
}
