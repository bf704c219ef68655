package dev.gpush.templates.yaml;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The text of one file, for facts that the parser's tokens lack: how a scalar is written, where the
 * next document begins. An index counts code points, as the parser does.
 */
final class Source {
  /** What ends the name of an anchor, besides a blank. */
  private static final String ANCHOR_ENDS = ",[]{}:";

  private final int[] points;

  Source(String text) {
    this.points = text.codePoints().toArray();
  }

  /**
   * How a scalar is written.
   *
   * @param tag as in the file: {@code !!int}
   * @param isPlain without quotes, and no block of text
   */
  record Written(Optional<String> anchor, Optional<String> tag, boolean isPlain) {}

  /** The scalar from one index to another; its anchor and tag belong to it. */
  Written written(int start, int end) {
    Optional<String> anchor = Optional.empty();
    Optional<String> tag = Optional.empty();
    int at = start;
    while (at < end && (points[at] == '&' || points[at] == '!')) {
      int stop = points[at] == '&' ? anchorEnd(at) : tagEnd(at);
      if (points[at] == '&') {
        anchor = Optional.of(text(at + 1, stop));
      } else {
        tag = Optional.of(text(at, stop));
      }
      at = afterBlanks(stop);
    }
    return new Written(anchor, tag, at >= end || "\"'|>".indexOf(points[at]) < 0);
  }

  private int anchorEnd(int start) {
    int at = start + 1;
    while (at < points.length && !isBlank(at) && ANCHOR_ENDS.indexOf(points[at]) < 0) {
      at++;
    }
    return at;
  }

  private int tagEnd(int start) {
    boolean isVerbatim = start + 1 < points.length && points[start + 1] == '<';
    int at = start + 1;
    while (at < points.length && !isBlank(at)) {
      at++;
      if (isVerbatim && points[at - 1] == '>') {
        return at;
      }
    }
    return at;
  }

  /** Behind blanks, line ends and comments. */
  private int afterBlanks(int start) {
    int at = start;
    while (at < points.length && (isBlank(at) || points[at] == '#')) {
      at = points[at] == '#' ? lineEnd(at) : at + 1;
    }
    return at;
  }

  /** Where a document or its directives begin behind an index, with only comments between. */
  OptionalInt nextDocument(int index) {
    int at = index;
    while (at < points.length) {
      boolean isLineStart = at == 0 || isLineEnd(at - 1);
      if (isLineStart && (points[at] == '%' || isMark(at, "---"))) {
        return OptionalInt.of(at);
      }
      boolean isPassed = points[at] == '#' || (isLineStart && isMark(at, "..."));
      if (!isPassed && !isBlank(at)) {
        return OptionalInt.empty();
      }
      at = isPassed ? lineEnd(at) : at + 1;
    }
    return OptionalInt.empty();
  }

  private boolean isMark(int at, String mark) {
    int end = at + mark.length();
    return end <= points.length
        && text(at, end).equals(mark)
        && (end == points.length || isBlank(end));
  }

  /** The first character that YAML forbids. */
  OptionalInt forbidden() {
    for (int at = 0; at < points.length; at++) {
      if (!isBlank(at) && !isAllowed(points[at])) {
        return OptionalInt.of(at);
      }
    }
    return OptionalInt.empty();
  }

  private static boolean isAllowed(int point) {
    return (point > ' ' && point < 0x7F)
        || point == 0x85
        || (point >= 0xA0 && point < Character.MIN_SURROGATE)
        || (point > Character.MAX_SURROGATE && point < 0xFFFE)
        || point > 0xFFFF;
  }

  Position position(int index) {
    int line = 1;
    for (int at = 0; at < index; at++) {
      boolean isFirstOfTwo = points[at] == '\r' && at + 1 < points.length && points[at + 1] == '\n';
      if (isLineEnd(at) && !isFirstOfTwo) {
        line++;
      }
    }
    return new Position(line, index - lineStart(index) + 1);
  }

  private int lineStart(int index) {
    int at = index;
    while (at > 0 && !isLineEnd(at - 1)) {
      at--;
    }
    return at;
  }

  private int lineEnd(int index) {
    int at = index;
    while (at < points.length && !isLineEnd(at)) {
      at++;
    }
    return at;
  }

  int length() {
    return points.length;
  }

  int point(int index) {
    return points[index];
  }

  String text(int start, int end) {
    return new String(points, start, end - start);
  }

  /** False beyond the end. */
  boolean isTab(int index) {
    return index < points.length && points[index] == '\t';
  }

  private boolean isBlank(int index) {
    return points[index] == ' ' || points[index] == '\t' || isLineEnd(index);
  }

  private boolean isLineEnd(int index) {
    return points[index] == '\n' || points[index] == '\r';
  }
}
