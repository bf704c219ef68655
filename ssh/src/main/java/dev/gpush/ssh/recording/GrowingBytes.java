package dev.gpush.ssh.recording;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes that are added one after another and written together. Not thread-safe. */
final class GrowingBytes {
  private static final int FIRST = 8 << 10;

  private byte[] array = new byte[FIRST];
  private int size;

  int size() {
    return size;
  }

  void add(byte[] bytes) {
    add(bytes, 0, bytes.length);
  }

  void add(byte[] bytes, int from, int count) {
    room(count);
    System.arraycopy(bytes, from, array, size, count);
    size += count;
  }

  void add(String ascii) {
    add(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  private void room(int count) {
    if (array.length - size < count) {
      array = Arrays.copyOf(array, Math.max(2 * array.length, size + count));
    }
  }

  /**
   * Its array, with this many bytes behind {@link #size}; what is written there counts after {@link
   * #grownTo}.
   */
  byte[] withRoom(int count) {
    room(count);
    return array;
  }

  void grownTo(int newSize) {
    size = newSize;
  }

  /** Takes away what was added after it had this size. */
  byte[] cut(int to) {
    byte[] rest = Arrays.copyOfRange(array, to, size);
    size = to;
    return rest;
  }

  /** What is there; valid until more is added. */
  ByteBuffer view() {
    return ByteBuffer.wrap(array, 0, size);
  }

  void clear() {
    size = 0;
  }
}
