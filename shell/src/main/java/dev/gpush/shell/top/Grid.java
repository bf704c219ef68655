package dev.gpush.shell.top;

import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Rows under headings. Where they do not fit, the columns that matter least are left out. */
final class Grid {
  private final List<Column> columns;
  private final List<Row> rows = new ArrayList<>();

  /** Of a text at the end of a line so much must fit; the rest of it may be cut. */
  private static final int LEAST_TEXT = 14;

  /**
   * @param rank those with the highest go first; 0: never
   */
  record Column(String heading, Kind kind, int rank) {
    enum Kind {
      TEXT,
      NUMBER,
      /** The last one, which may be cut. */
      REST
    }

    static Column text(String heading, int rank) {
      return new Column(heading, Kind.TEXT, rank);
    }

    static Column number(String heading, int rank) {
      return new Column(heading, Kind.NUMBER, rank);
    }

    static Column rest(String heading) {
      return new Column(heading, Kind.REST, 0);
    }
  }

  /**
   * @param weight by which rows are sorted, the largest first
   */
  private record Row(List<String> cells, double weight, ScreenLine.Style style) {}

  Grid(Column... columns) {
    this.columns = List.of(columns);
  }

  void row(double weight, ScreenLine.Style style, String... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(cells.length + " cells");
    }
    var clean = new ArrayList<String>();
    for (String cell : cells) {
      clean.add(Clean.line(cell));
    }
    rows.add(new Row(clean, weight, style));
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Largest weights first; equal ones stay in their order. */
  Grid sorted() {
    rows.sort((a, b) -> Double.compare(b.weight(), a.weight()));
    return this;
  }

  /** Heading first, rows after it; all fit into this width. */
  List<ScreenLine> lines(int width) {
    List<Integer> kept =
        new ArrayList<>(IntStream.range(0, columns.size()).filter(this::isUsed).boxed().toList());
    while (widthOf(kept) > width && kept.stream().anyMatch(at -> columns.get(at).rank() > 0)) {
      Integer least = kept.getFirst();
      for (Integer at : kept) {
        least = columns.get(at).rank() >= columns.get(least).rank() ? at : least;
      }
      kept.remove(least);
    }
    var lines = new ArrayList<ScreenLine>();
    lines.add(
        new ScreenLine(
            line(columns.stream().map(Column::heading).toList(), kept, width),
            ScreenLine.Style.HEADING));
    rows.forEach(row -> lines.add(new ScreenLine(line(row.cells(), kept, width), row.style())));
    return lines;
  }

  /** A column of which nothing is known takes no room. */
  private boolean isUsed(int at) {
    return rows.stream()
        .anyMatch(
            row -> !row.cells().get(at).isEmpty() && !row.cells().get(at).equals(Figures.NONE));
  }

  private int widthOf(List<Integer> kept) {
    return kept.stream().mapToInt(this::least).sum() + kept.size() - 1;
  }

  private int least(int at) {
    boolean mayBeCut = columns.get(at).kind() == Column.Kind.REST;
    return mayBeCut ? Math.min(width(at), LEAST_TEXT) : width(at);
  }

  private int width(int at) {
    int cells = rows.stream().mapToInt(row -> Width.of(row.cells().get(at))).max().orElse(0);
    return Math.max(cells, columns.get(at).heading().length());
  }

  private String line(List<String> cells, List<Integer> kept, int width) {
    var line = new StringBuilder();
    for (int at : kept) {
      String cell = cells.get(at);
      String blanks = " ".repeat(width(at) - Width.of(cell));
      line.append(line.isEmpty() ? "" : " ");
      line.append(columns.get(at).kind() == Column.Kind.NUMBER ? blanks + cell : cell + blanks);
    }
    return Width.cut(line.toString().stripTrailing(), width);
  }
}
