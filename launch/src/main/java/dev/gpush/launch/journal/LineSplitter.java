package dev.gpush.launch.journal;

import dev.gpush.core.run.LineBlock;
import java.io.ByteArrayOutputStream;

/**
 * Splits one rank's output on one stream into lines. Bytes are unchanged, also carriage returns and
 * invalid UTF-8. Lines that come together are given together.
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
    while (from < payload.length && line.size() > 0) {
      from = one(payload, from);
    }
    int end = endOfLines(payload, from);
    if (from < end && end - from <= MOST) {
      lines.lines(LineBlock.of(payload, from, end));
      from = end;
    }
    while (from < payload.length) {
      from = one(payload, from);
    }
  }

  /** Takes bytes up to the end of a line, or as many as a line may have; returns the next index. */
  private int one(byte[] payload, int from) {
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
    return isWhole ? end + 1 : end;
  }

  /** The index behind the last line feed; {@code from} where there is none. */
  private static int endOfLines(byte[] payload, int from) {
    int end = payload.length;
    while (end > from && payload[end - 1] != '\n') {
      end--;
    }
    return end;
  }

  @Override
  public void end() {
    if (line.size() > 0) {
      lines.line(line.toByteArray());
      line.reset();
    }
  }
}
