package dev.gpush.launch.journal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Makes the lines that a terminal would show: what follows a carriage return replaces what was
 * before, so of a progress bar only its present state is kept. Of a very long line only the
 * beginning is given, with its size.
 */
final class ScreenSplitter implements Splitter {
  /** Many screens full; what follows in the same line is counted. */
  static final int MOST = 16 * 1024;

  private final Lines lines;
  private byte[] line = new byte[256];
  private int length;
  private long more;

  /** A carriage return came: the next byte begins the line again, unless that ends it. */
  private boolean isReturned;

  private boolean isRewritten;

  ScreenSplitter(Lines lines) {
    this.lines = lines;
  }

  @Override
  public void feed(byte[] payload) {
    for (byte each : payload) {
      if (each == '\n') {
        give();
      } else if (each == '\r') {
        isReturned = true;
      } else {
        if (isReturned) {
          begin();
        }
        put(each);
      }
    }
    if (isRewritten) {
      lines.rewriting(text());
    }
  }

  /** A bar that was wiped with blanks is gone: what is written next is a line like any other. */
  private void begin() {
    boolean isWiped = isBlank() && length > 0;
    if (isWiped && isRewritten) {
      lines.rewriting(new byte[0]);
    }
    isRewritten = !isWiped;
    isReturned = false;
    length = 0;
    more = 0;
  }

  private boolean isBlank() {
    for (int at = 0; at < length; at++) {
      if (line[at] != ' ') {
        return false;
      }
    }
    return true;
  }

  private void put(byte each) {
    if (length >= MOST) {
      more++;
      return;
    }
    if (length == line.length) {
      line = Arrays.copyOf(line, 2 * length);
    }
    line[length++] = each;
  }

  @Override
  public void end() {
    if (length > 0) {
      give();
    }
  }

  private void give() {
    byte[] text = text();
    if (isRewritten) {
      lines.rewriting(text);
    }
    lines.line(text);
    length = 0;
    more = 0;
    isReturned = false;
    isRewritten = false;
  }

  private byte[] text() {
    if (more == 0) {
      return Arrays.copyOf(line, length);
    }
    byte[] note = (" … (" + more + " more bytes in this line)").getBytes(StandardCharsets.UTF_8);
    byte[] text = Arrays.copyOf(line, length + note.length);
    System.arraycopy(note, 0, text, length, note.length);
    return text;
  }
}
