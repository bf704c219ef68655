package dev.gpush.link.simulator;

import java.util.Arrays;

/** Bytes on their way. */
final class ByteQueue {
  private byte[] bytes = new byte[256];
  private int start;
  private int end;

  int size() {
    return end - start;
  }

  void add(byte[] more) {
    if (bytes.length - end < more.length) {
      int size = size();
      byte[] target =
          size + more.length > bytes.length / 2 ? new byte[2 * (size + more.length)] : bytes;
      System.arraycopy(bytes, start, target, 0, size);
      bytes = target;
      start = 0;
      end = size;
    }
    System.arraycopy(more, 0, bytes, end, more.length);
    end += more.length;
  }

  byte[] take(int count) {
    byte[] taken = Arrays.copyOfRange(bytes, start, start + count);
    start += count;
    return taken;
  }

  void clear() {
    start = end;
  }
}
