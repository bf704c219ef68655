package dev.gpush.sync.tree;

import java.util.Arrays;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The entries of a manifest in 1,024 buckets, of which a change touches few. Never changed. */
final class Buckets {
  static final int COUNT = 1024;

  private final Bucket[] all;

  private Buckets(Bucket[] all) {
    this.all = all;
  }

  static Buckets empty() {
    var all = new Bucket[COUNT];
    Arrays.fill(all, Bucket.NONE);
    return new Buckets(all);
  }

  Bucket get(int number) {
    return all[number];
  }

  Buckets after(Changes changes) {
    Bucket[] next = all.clone();
    changes.touched.forEach((number, paths) -> next[number] = all[number].after(paths));
    return new Buckets(next);
  }

  /** What is other in the next state, by bucket. */
  static final class Changes {
    private final SortedMap<Integer, SortedMap<String, Optional<Entry>>> touched = new TreeMap<>();

    /**
     * @param entry empty: the path is gone from this bucket
     */
    void put(int bucket, String path, Optional<Entry> entry) {
      touched.computeIfAbsent(bucket, _ -> new TreeMap<>(Manifest.ORDER)).put(path, entry);
    }

    Iterable<Integer> buckets() {
      return touched.keySet();
    }
  }
}
