package dev.gpush.link;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Received bytes that wait for their reader. Small pieces behind others are joined: each alone
 * costs a hundred bytes or more, and credit counts only what is in them. Guarded by its owner's
 * lock.
 */
final class Pieces {
  private static final int SMALL = 1 << 10;
  private static final int JOINED = 4 << 10;

  private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();

  /** Takes over the buffer. */
  void add(ByteBuffer piece) {
    int size = piece.remaining();
    if (size > SMALL || waiting.isEmpty()) {
      waiting.add(piece);
      return;
    }
    if (!hasRoom(waiting.getLast(), size)) {
      waiting.add(ByteBuffer.allocate(JOINED).limit(0));
    }
    ByteBuffer last = waiting.getLast();
    int end = last.limit();
    last.limit(end + size);
    last.put(end, piece, piece.position(), size);
  }

  /** The array of a received piece has no room at its end; only arrays made here have. */
  private static boolean hasRoom(ByteBuffer last, int size) {
    return last.capacity() - last.limit() >= size;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Moves bytes of the first piece to the target; there must be one. */
  int read(byte[] target, int offset, int length) {
    ByteBuffer first = waiting.element();
    int count = Math.min(length, first.remaining());
    first.get(target, offset, count);
    if (!first.hasRemaining()) {
      waiting.remove();
    }
    return count;
  }

  /** All bytes that wait. */
  int size() {
    return waiting.stream().mapToInt(ByteBuffer::remaining).sum();
  }

  /** How many buffers hold them. */
  int buffers() {
    return waiting.size();
  }

  void clear() {
    waiting.clear();
  }
}
