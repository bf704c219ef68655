package dev.gpush.shell.loop;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jline.terminal.Size;
import org.jline.utils.ScreenTerminal;

/**
 * What a user sees of what is written to a terminal. It pulls lines back when it grows, as most
 * terminals do. Not thread-safe.
 */
final class SeenScreen extends OutputStream {
  /** Before the cell in which it is. */
  private static final char CURSOR = '▮';

  private final ScreenTerminal seen;
  private final ByteArrayOutputStream letter = new ByteArrayOutputStream();

  SeenScreen(Size size) {
    seen = new ScreenTerminal(size.getColumns(), size.getRows());
  }

  void resize(Size size) {
    seen.setSize(size);
  }

  /** Whole letters are shown; the first byte of one says how many follow. */
  @Override
  public void write(int value) {
    letter.write(value);
    int first = letter.toByteArray()[0] & 0xff;
    int size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (letter.size() == size) {
      seen.write(letter.toString(StandardCharsets.UTF_8));
      letter.reset();
    }
  }

  /** The rows without spaces at their ends, down to the last that is not empty. */
  String rows() {
    var cells = new long[seen.getRows() * seen.getColumns()];
    var cursor = new int[2];
    seen.dump(cells, cursor);
    var rows = new StringBuilder();
    for (int row = 0; row < seen.getRows(); row++) {
      var text = new StringBuilder();
      for (int column = 0; column < seen.getColumns(); column++) {
        if (cursor[0] == column && cursor[1] == row) {
          text.append(CURSOR);
        }
        add(cells[row * seen.getColumns() + column], text);
      }
      rows.append(text.toString().stripTrailing()).append('\n');
    }
    return rows.toString().stripTrailing() + "\n";
  }

  private static void add(long cell, StringBuilder text) {
    int letter = ScreenTerminal.cellCodePoint(cell);
    if (letter != 0) {
      text.appendCodePoint(letter);
    }
  }

  /** The words of the rows that are not plain, each on a line behind how it looks. */
  String styles() {
    var cells = new long[seen.getRows() * seen.getColumns()];
    seen.dump(cells, new int[2]);
    var lines = new StringBuilder();
    for (int at = 0; at < cells.length; ) {
      String style = style(cells[at]);
      int rowEnd = (at / seen.getColumns() + 1) * seen.getColumns();
      var text = new StringBuilder();
      for (; at < rowEnd && style(cells[at]).equals(style); at++) {
        add(cells[at], text);
      }
      String words = text.toString().strip();
      if (!style.isEmpty() && !words.isEmpty()) {
        lines.append("~").append(style).append(": ").append(words).append('\n');
      }
    }
    return lines.toString();
  }

  private static String style(long cell) {
    return (ScreenTerminal.cellBold(cell) ? " bold" : "")
        + (ScreenTerminal.cellDim(cell) ? " dim" : "")
        + (ScreenTerminal.cellInverse(cell) ? " inverse" : "")
        + (ScreenTerminal.cellUnderline(cell) ? " underlined" : "")
        + (ScreenTerminal.cellHasForeground(cell)
            ? " " + colour(ScreenTerminal.cellForeground(cell))
            : "")
        + (ScreenTerminal.cellHasBackground(cell)
            ? " on " + colour(ScreenTerminal.cellBackground(cell))
            : "");
  }

  private static String colour(int code) {
    return switch (code) {
      case 0x800 -> "red";
      case 0x080 -> "green";
      case 0x088 -> "cyan";
      case 0xccc -> "white";
      default -> Integer.toHexString(code);
    };
  }
}
