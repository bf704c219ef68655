package dev.gpush.link.agent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reads a stream and keeps the end of it. Thread-safe. */
final class Tail {
  /** Text before the preamble, and on stderr, that is kept for messages. */
  private static final int MOST_KEPT = 64 << 10;

  /** Grows when it is full: each link has one, and most of them stay empty. */
  private static final int FIRST_KEPT = 1 << 10;

  /** Told that what has come ends a line. */
  @FunctionalInterface
  interface LinesEnded {
    void heard() throws IOException;
  }

  // guarded by this
  private byte[] ring = new byte[FIRST_KEPT];
  private long count;

  boolean readAll(InputStream input, LinesEnded onLines) {
    var piece = new byte[4 << 10];
    try {
      for (int size = input.read(piece); size >= 0; size = input.read(piece)) {
        for (int i = 0; i < size; i++) {
          add(piece[i]);
        }
        if (piece[size - 1] == '\n') {
          onLines.heard();
        }
      }
    } catch (IOException ended) {
      return false;
    }
    return true;
  }

  /**
   * Byte by byte up to and including the mark, so that nothing behind it is taken; false when the
   * stream ended before.
   */
  boolean readTo(InputStream input, byte[] mark) throws IOException {
    for (int next = input.read(); next >= 0; next = input.read()) {
      add((byte) next);
      if (next == mark[mark.length - 1] && endsWith(mark)) {
        return true;
      }
    }
    return false;
  }

  private synchronized void add(byte next) {
    if (count == ring.length && ring.length < MOST_KEPT) {
      ring = Arrays.copyOf(ring, ring.length * 2);
    }
    ring[(int) (count++ % ring.length)] = next;
  }

  private synchronized boolean endsWith(byte[] mark) {
    if (count < mark.length) {
      return false;
    }
    for (int i = 0; i < mark.length; i++) {
      if (ring[(int) ((count - mark.length + i) % ring.length)] != mark[i]) {
        return false;
      }
    }
    return true;
  }

  synchronized String text() {
    int size = (int) Math.min(count, ring.length);
    var bytes = new byte[size];
    for (int i = 0; i < size; i++) {
      bytes[i] = ring[(int) ((count - size + i) % ring.length)];
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
