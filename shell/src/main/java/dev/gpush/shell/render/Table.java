package dev.gpush.shell.render;

import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Aligned columns under a heading, two spaces apart, no boxes, nothing after the last word of a
 * line.
 */
public final class Table {
  private static final String GAP = "  ";

  /** A column that is not wider keeps its width in a window that is too small. */
  private static final int NARROW = 12;

  private final List<String> heading;
  private final List<List<String>> rows = new ArrayList<>();

  public Table(String... heading) {
    this.heading = List.of(heading);
  }

  /** An empty cell is shown as a dash. */
  public Table row(String... cells) {
    if (cells.length != heading.size()) {
      throw new IllegalArgumentException(
          heading.size() + " cells, not " + cells.length + ": " + Arrays.toString(cells));
    }
    rows.add(Arrays.stream(cells).map(cell -> cell.isEmpty() ? "-" : Clean.line(cell)).toList());
    return this;
  }

  /**
   * The lines, heading first. Where they do not fit, the widest columns are cut, then the lines.
   *
   * @param columns what the reader's window holds. 0: no limit
   */
  public List<String> lines(int columns) {
    int[] widths = new int[heading.size()];
    var all = new ArrayList<List<String>>();
    all.add(heading);
    all.addAll(rows);
    for (List<String> row : all) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], Width.of(row.get(i)));
      }
    }
    if (columns > 0) {
      narrow(widths, columns);
    }
    return all.stream()
        .map(row -> line(row, widths))
        .map(line -> Width.cut(line, columns))
        .toList();
  }

  private static void narrow(int[] widths, int columns) {
    int tooWide = Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1) - columns;
    for (; tooWide > 0; tooWide--) {
      int widest = 0;
      for (int i = 1; i < widths.length; i++) {
        widest = widths[i] > widths[widest] ? i : widest;
      }
      if (widths[widest] <= NARROW) {
        return;
      }
      widths[widest]--;
    }
  }

  private static String line(List<String> cells, int[] widths) {
    var line = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      String cell = Width.cut(cells.get(i), widths[i]);
      line.append(cell);
      if (i < cells.size() - 1) {
        line.append(" ".repeat(widths[i] - Width.of(cell))).append(GAP);
      }
    }
    return line.toString().stripTrailing();
  }
}
