package dev.gpush.sync.tree;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32;

/**
 * The hash of a whole manifest, whose work after a change is proportional to the change. An entry's
 * line belongs to one of 1,024 buckets, by the CRC-32 of its path; a bucket's hash is that of its
 * lines, and the root is the hash of these, each after its number. The agent's {@code
 * files/root.py} is the same.
 */
final class ManifestRoot {
  private static final int BUCKETS = 1024;

  private static final Bucket NONE = new Bucket(new String[0], new byte[0]);

  private final Bucket[] buckets;
  private final String text;

  private ManifestRoot(Bucket[] buckets) {
    this.buckets = buckets;
    MessageDigest digest = Hashes.digest();
    for (int number = 0; number < BUCKETS; number++) {
      if (buckets[number] != NONE) {
        digest.update((byte) (number >> 8));
        digest.update((byte) number);
        digest.update(buckets[number].hash);
      }
    }
    this.text = Hashes.hex(digest.digest());
  }

  static ManifestRoot of(NavigableMap<String, Entry> entries) {
    var sizes = new int[BUCKETS];
    var places = new short[entries.size()];
    int next = 0;
    for (String path : entries.keySet()) {
      int bucket = bucket(path);
      places[next++] = (short) bucket;
      sizes[bucket]++;
    }
    var paths = new String[BUCKETS][];
    var values = new Entry[BUCKETS][];
    for (int number = 0; number < BUCKETS; number++) {
      paths[number] = new String[sizes[number]];
      values[number] = new Entry[sizes[number]];
    }
    next = 0;
    for (Map.Entry<String, Entry> each : entries.entrySet()) {
      int bucket = places[next++];
      int at = paths[bucket].length - sizes[bucket]--;
      paths[bucket][at] = each.getKey();
      values[bucket][at] = each.getValue();
    }
    var lines = new ManifestLines();
    var buckets = new Bucket[BUCKETS];
    for (int number = 0; number < BUCKETS; number++) {
      buckets[number] = Bucket.of(paths[number], values[number], lines);
    }
    return new ManifestRoot(buckets);
  }

  /** The root of these entries, of which only the named ones are other than here. */
  ManifestRoot after(Collection<String> changed, NavigableMap<String, Entry> entries) {
    var touched = new TreeMap<Integer, TreeSet<String>>();
    for (String path : changed) {
      int bucket = bucket(path);
      touched
          .computeIfAbsent(
              bucket,
              number -> {
                var all = new TreeSet<String>(Manifest.ORDER);
                Collections.addAll(all, buckets[number].paths);
                return all;
              })
          .add(path);
    }
    var lines = new ManifestLines();
    Bucket[] next = buckets.clone();
    touched.forEach(
        (number, paths) -> {
          paths.removeIf(path -> !entries.containsKey(path));
          next[number] =
              Bucket.of(
                  paths.toArray(String[]::new),
                  paths.stream().map(entries::get).toArray(Entry[]::new),
                  lines);
        });
    return new ManifestRoot(next);
  }

  String text() {
    return text;
  }

  private static int bucket(String path) {
    var crc = new CRC32();
    crc.update(path.getBytes(StandardCharsets.UTF_8));
    return (int) (crc.getValue() % BUCKETS);
  }

  private static final class Bucket {
    private final String[] paths;
    private final byte[] hash;

    Bucket(String[] paths, byte[] hash) {
      this.paths = paths;
      this.hash = hash;
    }

    static Bucket of(String[] paths, Entry[] entries, ManifestLines lines) {
      if (paths.length == 0) {
        return NONE;
      }
      for (int i = 0; i < paths.length; i++) {
        lines.add(paths[i], entries[i]);
      }
      return new Bucket(paths, lines.hash());
    }
  }
}
