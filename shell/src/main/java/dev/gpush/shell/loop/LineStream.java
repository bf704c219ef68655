package dev.gpush.shell.loop;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Gives what is written to it line by line. One thread writes. */
final class LineStream extends OutputStream {
  /** Of one line, in bytes; the rest of a longer one is dropped. */
  private static final int LONGEST = 64 * 1024;

  private final Consumer<String> lines;
  private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

  LineStream(Consumer<String> lines) {
    this.lines = lines;
  }

  @Override
  public void write(int value) {
    if (value == '\n') {
      String line = begun.toString(StandardCharsets.UTF_8);
      begun.reset();
      lines.accept(line);
    } else if (begun.size() < LONGEST) {
      begun.write(value);
    }
  }
}
