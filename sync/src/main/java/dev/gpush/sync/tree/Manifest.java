package dev.gpush.sync.tree;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** One state of a tree: path → entry, sorted by the paths' UTF-8 bytes, and the hash of it all. */
public final class Manifest {
  /** Order of UTF-8 bytes, which is that of code points; Java's own order of UTF-16 is not. */
  public static final Comparator<String> ORDER = Manifest::compare;

  private final SortedMap<String, Entry> entries;
  private final String root;

  private Manifest(SortedMap<String, Entry> entries) {
    this.entries = Collections.unmodifiableSortedMap(entries);
    this.root = root(entries);
  }

  public static Manifest of(Map<String, Entry> entries) {
    var sorted = new TreeMap<String, Entry>(ORDER);
    sorted.putAll(entries);
    return new Manifest(sorted);
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

  /** SHA-256 over the lines {@code path NUL kind NUL x NUL hash LF}. */
  public String root() {
    return root;
  }

  public int size() {
    return entries.size();
  }

  /** The paths that are not the same in both, sorted. */
  public List<String> differences(Manifest other) {
    var paths = new TreeSet<String>(ORDER);
    paths.addAll(entries.keySet());
    paths.addAll(other.entries.keySet());
    return paths.stream().filter(path -> !get(path).equals(other.get(path))).toList();
  }

  /** Whether there are entries below this path, so that it is a folder. */
  public boolean hasFolder(String path) {
    SortedMap<String, Entry> after = entries.tailMap(path + "/");
    return !after.isEmpty() && after.firstKey().startsWith(path + "/");
  }

  private static String root(Map<String, Entry> entries) {
    MessageDigest digest = Hashes.digest();
    entries.forEach(
        (path, entry) ->
            digest.update((path + "\0" + entry.key() + "\n").getBytes(StandardCharsets.UTF_8)));
    return Hashes.hex(digest.digest());
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
