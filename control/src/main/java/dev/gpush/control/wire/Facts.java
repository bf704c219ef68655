package dev.gpush.control.wire;

import java.util.Map;

/**
 * What the client's streams are.
 *
 * @param in whether standard input is a terminal; likewise out and err
 * @param columns the terminal's width, 0 when there is no terminal or it does not say
 * @param type TERM, empty when unset
 * @param colours how many colours the terminal supports and the user wants: 0, 8, 256 or 16777216
 */
public record Facts(
    boolean in, boolean out, boolean err, int columns, int rows, String type, int colours) {
  /** The most columns or rows: the kernel keeps them in 16 bits. */
  public static final int MOST_CELLS = 65_535;

  private static final int TRUE_COLOURS = 1 << 24;

  /** No stream is a terminal. */
  public static final Facts NONE = new Facts(false, false, false, 0, 0, "", 0);

  /**
   * The facts of streams, with type and colours as the environment tells them (NO_COLOR, COLORTERM,
   * TERM).
   */
  public static Facts of(
      boolean in,
      boolean out,
      boolean err,
      int columns,
      int rows,
      Map<String, String> environment) {
    String type = environment.getOrDefault("TERM", "");
    return new Facts(in, out, err, columns, rows, type, colours(type, environment));
  }

  public Facts withSize(int newColumns, int newRows) {
    return new Facts(in, out, err, newColumns, newRows, type, colours);
  }

  private static int colours(String type, Map<String, String> environment) {
    if (type.isEmpty()
        || type.equals("dumb")
        || !environment.getOrDefault("NO_COLOR", "").isEmpty()) {
      return 0;
    }
    String more = environment.getOrDefault("COLORTERM", "");
    if (more.equals("truecolor") || more.equals("24bit")) {
      return TRUE_COLOURS;
    }
    return type.contains("256color") ? 256 : 8;
  }

  Payload write(Payload payload) {
    return payload
        .flag(in)
        .flag(out)
        .flag(err)
        .number(columns)
        .number(rows)
        .text(type)
        .number(colours);
  }

  static Facts read(Fields fields) throws ControlProtocolException {
    return new Facts(
        fields.flag(),
        fields.flag(),
        fields.flag(),
        fields.count(MOST_CELLS),
        fields.count(MOST_CELLS),
        fields.text(),
        fields.count(TRUE_COLOURS));
  }
}
