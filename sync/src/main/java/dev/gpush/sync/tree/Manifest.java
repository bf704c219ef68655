package dev.gpush.sync.tree;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** One state of a tree: path → entry, sorted by the paths' UTF-8 bytes, and the hash of it all. */
public final class Manifest {
  /** Order of UTF-8 bytes, which is that of code points; Java's own order of UTF-16 is not. */
  public static final Comparator<String> ORDER = Manifest::compare;

  private final SortedMap<String, Entry> entries;
  private final ManifestRoot hash;
  private final String root;

  private Manifest(SortedMap<String, Entry> entries, ManifestRoot hash) {
    this.entries = Collections.unmodifiableSortedMap(entries);
    this.hash = hash;
    this.root = hash.text();
  }

  public static Manifest of(Map<String, Entry> entries) {
    var sorted = new TreeMap<String, Entry>(ORDER);
    sorted.putAll(entries);
    return new Manifest(sorted, ManifestRoot.of(sorted));
  }

  public static Manifest empty() {
    return of(Map.of());
  }

  public SortedMap<String, Entry> entries() {
    return entries;
  }

  public Optional<Entry> get(String path) {
    return Optional.ofNullable(entries.get(path));
  }

  /** The next state in the making, from this one. */
  public Draft draft() {
    return new Draft(this);
  }

  /** One hash of all paths and their entries. */
  public String root() {
    return root;
  }

  public int size() {
    return entries.size();
  }

  /** The paths that are not the same in both, sorted. */
  public List<String> differences(Manifest other) {
    var paths = new ArrayList<String>();
    if (root.equals(other.root)) {
      return paths;
    }
    Iterator<Map.Entry<String, Entry>> left = entries.entrySet().iterator();
    Iterator<Map.Entry<String, Entry>> right = other.entries.entrySet().iterator();
    Optional<Map.Entry<String, Entry>> here = next(left);
    Optional<Map.Entry<String, Entry>> there = next(right);
    while (here.isPresent() || there.isPresent()) {
      int order = compare(here, there);
      if (order != 0 || !same(here.orElseThrow(), there.orElseThrow())) {
        paths.add((order <= 0 ? here : there).orElseThrow().getKey());
      }
      here = order <= 0 ? next(left) : here;
      there = order >= 0 ? next(right) : there;
    }
    return paths;
  }

  private static Optional<Map.Entry<String, Entry>> next(Iterator<Map.Entry<String, Entry>> from) {
    return from.hasNext() ? Optional.of(from.next()) : Optional.empty();
  }

  /** The end comes after every path. */
  private static int compare(
      Optional<Map.Entry<String, Entry>> here, Optional<Map.Entry<String, Entry>> there) {
    if (here.isEmpty() || there.isEmpty()) {
      return here.isEmpty() ? 1 : -1;
    }
    String one = here.orElseThrow().getKey();
    String other = there.orElseThrow().getKey();
    return one.equals(other) ? 0 : compare(one, other);
  }

  private static boolean same(Map.Entry<String, Entry> one, Map.Entry<String, Entry> other) {
    return one.getValue().equals(other.getValue());
  }

  /** Whether there are entries below this path, so that it is a folder. */
  public boolean hasFolder(String path) {
    SortedMap<String, Entry> after = entries.tailMap(path + "/");
    return !after.isEmpty() && after.firstKey().startsWith(path + "/");
  }

  /** Changes of a manifest; their hash costs work in proportion to them. */
  public static final class Draft {
    private static final int MANY = 4;

    private final Manifest before;
    private final NavigableMap<String, Entry> entries;
    private final Set<String> changed = new HashSet<>();

    private Draft(Manifest before) {
      this.before = before;
      this.entries = new TreeMap<>(before.entries);
    }

    public void put(String path, Entry entry) {
      if (!entry.equals(entries.put(path, entry))) {
        changed.add(path);
      }
    }

    public void remove(String path) {
      if (entries.remove(path) != null) {
        changed.add(path);
      }
    }

    public int size() {
      return entries.size();
    }

    /** To be called once. */
    public Manifest done() {
      if (changed.isEmpty()) {
        return before;
      }
      boolean isMany = changed.size() > entries.size() / MANY;
      return new Manifest(
          entries, isMany ? ManifestRoot.of(entries) : before.hash.after(changed, entries));
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
    return other instanceof Manifest manifest && manifest.root.equals(root);
  }

  @Override
  public int hashCode() {
    return root.hashCode();
  }

  @Override
  public String toString() {
    return entries.size() + " entries, root " + root.substring(0, 12);
  }
}
