package dev.gpush.templates.yaml;

/** A place in a text as editors count: both from one. */
public record Position(int line, int column) {
  public static final Position START = new Position(1, 1);
}
