package dev.gpush.ssh.recording;

/**
 * A terminal that begins.
 *
 * @param connection its id in the audit
 * @param channel its number in the connection
 * @param type of the terminal, as in {@code TERM}
 */
public record RecordedTerminal(
    String node, String person, String connection, long channel, String type, Size size) {
  /** In cells. */
  public record Size(long columns, long rows) {
    private static final Size USUAL = new Size(80, 24);

    /** A client that has no terminal of its own says 0, which players refuse. */
    public static Size of(long columns, long rows) {
      return columns == 0 || rows == 0 ? USUAL : new Size(columns, rows);
    }
  }
}
