package dev.gpush.launch.journal;

import java.io.ByteArrayOutputStream;

/**
 * Splits one rank's output on one stream into lines. Bytes are unchanged, also carriage returns and
 * invalid UTF-8.
 */
final class LineSplitter implements Splitter {
  /**
   * A longer line is given in pieces of this size, so that no program can fill the gateway's
   * memory.
   */
  static final int MOST = 64 * 1024;

  private final Lines lines;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  LineSplitter(Lines lines) {
    this.lines = lines;
  }

  @Override
  public void feed(byte[] payload) {
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
        lines.line(line.toByteArray());
        line.reset();
      }
      from = isWhole ? end + 1 : end;
    }
  }

  @Override
  public void end() {
    if (line.size() > 0) {
      lines.line(line.toByteArray());
      line.reset();
    }
  }
}
