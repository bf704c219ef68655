package dev.gpush.core.run;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Complete lines of one rank, one after the other, each with its line feed. The bytes are not
 * copied: they must not change, and are read while the block is being given.
 */
public final class LineBlock {
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
