package dev.gpush.sync.delta;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * Writes what makes a new file of an old one: {@code u8 0 · u32 length · bytes} takes these bytes,
 * {@code u8 1 · u64 offset · u32 length} takes that part of the old file.
 */
public final class Patch {
  /** Of a literal; a longer one is several. */
  private static final int MOST_LITERAL = 1 << 16;

  private static final int LEAST_BUFFER = 1 << 18;
  private static final int LITERAL = 0;
  private static final int COPY = 1;

  /** Bits of the filter that spares most bytes a look into the table. */
  private static final int FILTER_BITS = 16;

  private final Signature old;
  private final DataOutputStream out;
  private final Map<Long, Integer> blocks = new HashMap<>();
  private final boolean[] filter = new boolean[1 << FILTER_BITS];

  // a part of the old file that goes on
  private long copyOffset;
  private int copyLength;

  /** Takes what is read of the new file, in order. */
  @FunctionalInterface
  public interface Reader {
    void read(byte[] bytes, int offset, int length);
  }

  private Patch(Signature old, DataOutputStream out) {
    this.old = old;
    this.out = out;
    for (int i = old.count() - 1; i >= 0; i--) {
      long hash = old.hash(i);
      blocks.put(hash, i);
      filter[slot(hash)] = true;
    }
  }

  private static int slot(long hash) {
    return (int) (hash >>> (Long.SIZE - FILTER_BITS));
  }

  /**
   * Writes a patch.
   *
   * @param in the new file
   * @param sees every byte of it
   */
  public static void write(Signature old, InputStream in, Reader sees, DataOutputStream out)
      throws IOException {
    new Patch(old, out).write(in, sees);
  }

  private void write(InputStream in, Reader sees) throws IOException {
    int block = old.block();
    var window = new RollingHash(block);
    var bytes = new byte[Math.max(LEAST_BUFFER, 2 * block + MOST_LITERAL)];
    int literal = 0;
    int at = 0;
    int end = 0;
    boolean isBegun = false;
    while (true) {
      if (end - at <= block) {
        System.arraycopy(bytes, literal, bytes, 0, end - literal);
        at -= literal;
        end -= literal;
        literal = 0;
        int more = in.readNBytes(bytes, end, bytes.length - end);
        sees.read(bytes, end, more);
        end += more;
        if (end - at < block) {
          break;
        }
      }
      if (!isBegun) {
        window.begin(bytes, at);
        isBegun = true;
      }
      int found = find(window.value());
      if (found >= 0) {
        literal(bytes, literal, at - literal);
        copy((long) found * block, block);
        at += block;
        literal = at;
        isBegun = false;
      } else if (end - at > block) {
        window.move(bytes[at], bytes[at + block]);
        at++;
        if (at - literal == MOST_LITERAL) {
          literal(bytes, literal, MOST_LITERAL);
          literal = at;
        }
      } else {
        break;
      }
    }
    literal(bytes, literal, end - literal);
    endCopy();
  }

  /** The number of the old block with this hash, or -1. One that goes on is preferred. */
  private int find(long hash) {
    if (!filter[slot(hash)]) {
      return -1;
    }
    int next = (int) ((copyOffset + copyLength) / old.block());
    if (copyLength > 0 && next < old.count() && old.hash(next) == hash) {
      return next;
    }
    Integer found = blocks.get(hash);
    return found == null ? -1 : found;
  }

  private void copy(long offset, int length) throws IOException {
    if (copyLength > 0
        && copyOffset + copyLength == offset
        && copyLength <= Integer.MAX_VALUE - length) {
      copyLength += length;
      return;
    }
    endCopy();
    copyOffset = offset;
    copyLength = length;
  }

  private void endCopy() throws IOException {
    if (copyLength > 0) {
      out.writeByte(COPY);
      out.writeLong(copyOffset);
      out.writeInt(copyLength);
      copyLength = 0;
    }
  }

  private void literal(byte[] bytes, int offset, int length) throws IOException {
    if (length <= 0) {
      return;
    }
    endCopy();
    for (int done = 0; done < length; done += MOST_LITERAL) {
      int part = Math.min(MOST_LITERAL, length - done);
      out.writeByte(LITERAL);
      out.writeInt(part);
      out.write(bytes, offset + done, part);
    }
  }
}
