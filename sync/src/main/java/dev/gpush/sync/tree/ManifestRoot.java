package dev.gpush.sync.tree;

import dev.gpush.core.text.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * The hash of a whole manifest, whose work after a change is proportional to the change. An entry's
 * line belongs to one of 1,024 buckets, by the CRC-32 of its path; a bucket's hash is that of its
 * lines, and the root is the hash of these, each after its number. The agent's {@code
 * files/root.py} is the same.
 */
final class ManifestRoot {
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
    var hashes = new byte[Buckets.COUNT][];
    Arrays.fill(hashes, NONE);
    return new ManifestRoot(hashes);
  }

  /**
   * The root of the next state.
   *
   * @param touched the buckets that are other than here
   */
  ManifestRoot after(Iterable<Integer> touched, Buckets entries) {
    byte[][] next = hashes.clone();
    var lines = new ManifestLines();
    for (int number : touched) {
      Bucket bucket = entries.get(number);
      next[number] = bucket.size() == 0 ? NONE : bucket.hash(lines);
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
    return (int) (crc.getValue() % Buckets.COUNT);
  }
}
