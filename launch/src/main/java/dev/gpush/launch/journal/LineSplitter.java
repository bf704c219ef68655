package dev.gpush.launch.journal;

import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;

/**
 * Splits one rank's output on one stream into lines. Bytes are unchanged, also carriage returns and
 * invalid UTF-8.
 */
final class LineSplitter {
  /**
   * A longer line is given in pieces of this size, so that no program can fill the gateway's
   * memory.
   */
  static final int MOST = 64 * 1024;

  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  void feed(byte[] payload, Consumer<byte[]> lines) {
    int from = 0;
    while (from < payload.length) {
      int end = from;
      int limit = Math.min(payload.length, from + MOST - line.size());
      while (end < limit && payload[end] != '\n') {
        end++;
      }
      line.write(payload, from, end - from);
      boolean isWhole = end < payload.length && payload[end] == '\n';
      if (isWhole || line.size() >= MOST) {
        lines.accept(line.toByteArray());
        line.reset();
      }
      from = isWhole ? end + 1 : end;
    }
  }

  /** Gives the rest without a line feed. */
  void end(Consumer<byte[]> lines) {
    if (line.size() > 0) {
      lines.accept(line.toByteArray());
      line.reset();
    }
  }
}
