package dev.gpush.core.run;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Complete lines of one rank, one after the other, each with its line feed. The bytes are not
 * copied: they must not change, and are read while the block is being given.
 */
public final class LineBlock {
  // Line feeds are looked for in eight bytes at a time: much output is little else.
  private static final VarHandle EIGHT_BYTES =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW_BITS = 0x0101010101010101L;
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long LINE_FEEDS = '\n' * LOW_BITS;

  private final byte[] bytes;
  private final int from;
  private final int to;

  private LineBlock(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
  }

  /** The bytes between two indices; the last of them is a line feed. */
  public static LineBlock of(byte[] bytes, int from, int to) {
    Objects.checkFromToIndex(from, to, bytes.length);
    if (from == to || bytes[to - 1] != '\n') {
      throw new IllegalArgumentException("no line feed at the end of " + (to - from) + " bytes");
    }
    return new LineBlock(bytes, from, to);
  }

  /** The array that holds the lines, among other bytes. */
  public byte[] bytes() {
    return bytes;
  }

  /** The index of the first line's first byte. */
  public int from() {
    return from;
  }

  /** The index behind the last line feed. */
  public int to() {
    return to;
  }

  /** The index behind the line feed of the line that begins at an index. */
  public int endOfLine(int start) {
    int at = start;
    for (; at + Long.BYTES <= to; at += Long.BYTES) {
      // Zero where there is a line feed; the lowest bit that is set then belongs to the first one.
      long differences = (long) EIGHT_BYTES.get(bytes, at) ^ LINE_FEEDS;
      long found = (differences - LOW_BITS) & ~differences & HIGH_BITS;
      if (found != 0) {
        return at + Long.numberOfTrailingZeros(found) / Byte.SIZE + 1;
      }
    }
    while (bytes[at] != '\n') {
      at++;
    }
    return at + 1;
  }

  /** Gives each line without its line feed, in an array of its own. */
  public void forEach(Consumer<byte[]> line) {
    for (int start = from; start < to; ) {
      int end = endOfLine(start);
      line.accept(Arrays.copyOfRange(bytes, start, end - 1));
      start = end;
    }
  }
}
