package dev.gpush.sync.tree;

import dev.gpush.core.file.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.zip.CRC32;

/**
 * The hash of a whole manifest, whose work after a change is proportional to the change. An entry's
 * line belongs to one of 1,024 buckets, by the CRC-32 of its path; a bucket's hash is that of its
 * lines, and the root is the hash of these, each after its number. The agent's {@code
 * files/root.py} is the same.
 */
final class ManifestRoot {
  static final int BUCKETS = 1024;

  private static final byte[] NONE = new byte[0];

  private final byte[][] hashes;
  private final String text;

  private ManifestRoot(byte[][] hashes) {
    this.hashes = hashes;
    MessageDigest digest = Sha256.digest();
    for (int number = 0; number < hashes.length; number++) {
      if (hashes[number].length > 0) {
        digest.update((byte) (number >> 8));
        digest.update((byte) number);
        digest.update(hashes[number]);
      }
    }
    this.text = Hashes.hex(digest.digest());
  }

  /** Of no entries. */
  static ManifestRoot empty() {
    var hashes = new byte[BUCKETS][];
    Arrays.fill(hashes, NONE);
    return new ManifestRoot(hashes);
  }

  /**
   * The root of the next state.
   *
   * @param touched the buckets that are other than here
   */
  ManifestRoot after(Set<Integer> touched, List<SortedMap<String, Entry>> entries) {
    byte[][] next = hashes.clone();
    var lines = new ManifestLines();
    for (int number : touched) {
      entries.get(number).forEach(lines::add);
      next[number] = entries.get(number).isEmpty() ? NONE : lines.hash();
    }
    return new ManifestRoot(next);
  }

  String text() {
    return text;
  }

  /** Whether the entries of this bucket are the same in both. */
  boolean isSame(int number, ManifestRoot other) {
    return Arrays.equals(hashes[number], other.hashes[number]);
  }

  /** The bucket of a path. */
  static int bucket(String path) {
    var crc = new CRC32();
    crc.update(path.getBytes(StandardCharsets.UTF_8));
    return (int) (crc.getValue() % BUCKETS);
  }
}
