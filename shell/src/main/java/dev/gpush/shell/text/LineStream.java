package dev.gpush.shell.text;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Gives what is written to it line by line. One thread writes. */
public final class LineStream extends OutputStream {
  private final int longest;
  private final Consumer<String> lines;
  private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

  /**
   * @param longest of one line, in bytes; the rest of a longer one is dropped
   */
  public LineStream(int longest, Consumer<String> lines) {
    this.longest = longest;
    this.lines = lines;
  }

  @Override
  public void write(int value) {
    if (value == '\n') {
      String line = begun.toString(StandardCharsets.UTF_8);
      begun.reset();
      lines.accept(line);
    } else if (begun.size() < longest) {
      begun.write(value);
    }
  }
}
