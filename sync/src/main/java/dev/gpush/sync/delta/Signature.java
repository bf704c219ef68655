package dev.gpush.sync.delta;

import java.util.Arrays;

/**
 * A file as its blocks' hashes: enough to find, in another file, what the two have in common. The
 * bytes after the last whole block have none.
 */
public final class Signature {
  private static final int LEAST_BLOCK = 256;
  private static final int MOST_BLOCK = 1 << 17;

  /** The blocks of one gigabyte. */
  static final int MOST_BLOCKS = 1 << 13;

  /** Smaller files are sent whole: they would not become much smaller. */
  private static final long LEAST_FILE = 4096;

  private final int block;
  private final long[] hashes;

  Signature(int block, long[] hashes) {
    this.block = block;
    this.hashes = hashes;
  }

  int block() {
    return block;
  }

  /** How many whole blocks there are. */
  int count() {
    return hashes.length;
  }

  long hash(int number) {
    return hashes[number];
  }

  public static boolean isWorthIt(long size) {
    return size >= LEAST_FILE;
  }

  /** About as many blocks as bytes in a block, but not too many; a power of two. */
  static int blockOf(long size) {
    int block = LEAST_BLOCK;
    while (block < MOST_BLOCK && ((long) block * block * 4 <= size || size / block > MOST_BLOCKS)) {
      block *= 2;
    }
    return block;
  }

  /** Makes it of bytes as they come. */
  public static final class Maker {
    private final int block;
    private long[] hashes = new long[16];
    private int count;
    private long hash;
    private int filled;

    /**
     * @param size of the file
     */
    public Maker(long size) {
      this.block = blockOf(size);
    }

    public void add(byte[] bytes, int offset, int length) {
      for (int i = offset; i < offset + length; i++) {
        hash = RollingHash.append(hash, bytes[i]);
        filled++;
        if (filled == block) {
          if (count == hashes.length) {
            hashes = Arrays.copyOf(hashes, count * 2);
          }
          hashes[count] = hash;
          count++;
          hash = 0;
          filled = 0;
        }
      }
    }

    public Signature made() {
      return new Signature(block, Arrays.copyOf(hashes, count));
    }
  }
}
