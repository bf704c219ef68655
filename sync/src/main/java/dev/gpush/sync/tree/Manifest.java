package dev.gpush.sync.tree;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One state of a tree: path → entry, and the hash of it all. The next state shares with it what has
 * not changed, so a change costs what it changes and not what the tree has.
 */
public final class Manifest {
  /** Order of UTF-8 bytes, which is that of code points; Java's own order of UTF-16 is not. */
  public static final Comparator<String> ORDER = Manifest::compare;

  private static final Manifest EMPTY =
      new Manifest(noBuckets(), noBuckets(), ManifestRoot.empty(), 0);

  /** Of a hash: they say in which bucket its paths are. */
  private static final int HEX_DIGITS = 3;

  // Entries by path, in buckets of which a change touches few. Never changed.
  private final List<SortedMap<String, Entry>> byPath;
  private final List<SortedMap<String, Entry>> byContent;
  private final ManifestRoot hash;
  private final int size;

  private Manifest(
      List<SortedMap<String, Entry>> byPath,
      List<SortedMap<String, Entry>> byContent,
      ManifestRoot hash,
      int size) {
    this.byPath = byPath;
    this.byContent = byContent;
    this.hash = hash;
    this.size = size;
  }

  private static List<SortedMap<String, Entry>> noBuckets() {
    return Collections.nCopies(ManifestRoot.BUCKETS, new TreeMap<>(ORDER));
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
    byPath.forEach(sorted::putAll);
    return Collections.unmodifiableSortedMap(sorted);
  }

  public Optional<Entry> get(String path) {
    return Optional.ofNullable(byPath.get(ManifestRoot.bucket(path)).get(path));
  }

  /** The paths of the files with this content. */
  public List<String> pathsOf(String hash) {
    var paths = new ArrayList<String>();
    if (Hashes.isHash(hash)) {
      byContent
          .get(contentBucket(hash))
          .forEach(
              (path, entry) -> {
                if (entry instanceof Entry.File file && file.hash().equals(hash)) {
                  paths.add(path);
                }
              });
    }
    return paths;
  }

  private static int contentBucket(String hash) {
    return Integer.parseInt(hash, 0, HEX_DIGITS, 16) % ManifestRoot.BUCKETS;
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
    var paths = new TreeSet<String>(ORDER);
    for (int number = 0; number < ManifestRoot.BUCKETS; number++) {
      if (!hash.isSame(number, other.hash)) {
        paths.addAll(byPath.get(number).keySet());
        paths.addAll(other.byPath.get(number).keySet());
      }
    }
    return paths.stream().filter(path -> !get(path).equals(other.get(path))).toList();
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
      var byPath = new NextBuckets(before.byPath);
      var byContent = new NextBuckets(before.byContent);
      changes.forEach(
          (path, entry) -> {
            byPath.put(ManifestRoot.bucket(path), path, entry);
            // First: what it had and what it has may be in one bucket.
            content(before.get(path))
                .ifPresent(hash -> byContent.put(contentBucket(hash), path, Optional.empty()));
            content(entry).ifPresent(hash -> byContent.put(contentBucket(hash), path, entry));
          });
      return new Manifest(
          byPath.all, byContent.all, before.hash.after(byPath.touched, byPath.all), size);
    }

    private static Optional<String> content(Optional<Entry> of) {
      return of.orElse(null) instanceof Entry.File file
          ? Optional.of(file.hash())
          : Optional.empty();
    }
  }

  /** Buckets in the making: only those that are touched are copied. */
  private static final class NextBuckets {
    private final List<SortedMap<String, Entry>> all;
    private final Set<Integer> touched = new HashSet<>();

    NextBuckets(List<SortedMap<String, Entry>> before) {
      this.all = new ArrayList<>(before);
    }

    /**
     * @param entry empty: the path is gone from this bucket
     */
    void put(int number, String path, Optional<Entry> entry) {
      if (touched.add(number)) {
        all.set(number, new TreeMap<>(all.get(number)));
      }
      SortedMap<String, Entry> bucket = all.get(number);
      entry.ifPresentOrElse(now -> bucket.put(path, now), () -> bucket.remove(path));
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
