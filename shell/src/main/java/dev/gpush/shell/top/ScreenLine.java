package dev.gpush.shell.top;

/** A line of the screen without colours, and how it is to look. */
public record ScreenLine(String text, Style style) {
  /** How a line looks; without colours all look the same, and nothing is said by a colour alone. */
  public enum Style {
    PLAIN,
    HEADING,
    ALARM,
    SELECTED
  }

  static ScreenLine plain(String text) {
    return new ScreenLine(text, Style.PLAIN);
  }
}
