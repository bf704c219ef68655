package dev.gpush.templates.yaml;

import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A file as the parser is to read it. The parser keeps to YAML 1.1: it takes some letters for line
 * ends, and refuses tabs between words, {@code "\/"}, and question marks within brackets, all of
 * which YAML 1.2 allows. Such a character is replaced by another, so that every place in the file
 * stays true.
 */
final class ParserText {
  /** Line ends in YAML 1.1, letters since 1.2. */
  private static final List<Integer> OLD_LINE_ENDS = List.of(0x85, 0x2028, 0x2029);

  /**
   * Characters without a meaning begin here: one that the file does not use can replace another.
   */
  private static final int FIRST_PRIVATE = 0xE000;

  /** By which a file uses a character without having it. */
  private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u|U0000)([0-9A-Fa-f]{4})");

  private final Source source;
  private final int[] points;

  /** By its replacement, what the file has. */
  private final Map<String, String> replaced = new LinkedHashMap<>();

  /** Replaces a backslash that is to be left out. */
  private final int nothing;

  private final int questionMark;

  ParserText(Source source) {
    this.source = source;
    this.points = source.points();
    var used = new BitSet();
    IntStream.of(points).forEach(used::set);
    Matcher escapes = ESCAPE.matcher(toString());
    while (escapes.find()) {
      used.set(Integer.parseInt(escapes.group(1), 16));
    }
    this.nothing = used.nextClearBit(FIRST_PRIVATE);
    replaced.put(Character.toString(nothing), "");
    this.questionMark = used.nextClearBit(nothing + 1);
    replaced.put(Character.toString(questionMark), "?");
    int unused = questionMark;
    for (int lineEnd : OLD_LINE_ENDS) {
      unused = used.nextClearBit(unused + 1);
      replaced.put(Character.toString(unused), Character.toString(lineEnd));
      for (int at = 0; at < points.length; at++) {
        points[at] = points[at] == lineEnd ? unused : points[at];
      }
    }
    for (int at = 0; at < points.length; at++) {
      points[at] = points[at] == '?' && isLetter(at) ? questionMark : points[at];
    }
  }

  /** Whether it is part of a word, and not what a key may begin with. */
  private boolean isLetter(int at) {
    boolean isFirst = at == 0 || source.isBlank(at - 1) || "[{,".indexOf(source.point(at - 1)) >= 0;
    boolean isLast = at + 1 == points.length || source.isBlank(at + 1);
    return !(isFirst && isLast);
  }

  @Override
  public String toString() {
    return new String(points, 0, points.length);
  }

  /** What the parser has read of the file, as the file has it. */
  String original(String read) {
    String text = read;
    for (var each : replaced.entrySet()) {
      text = text.replace(each.getKey(), each.getValue());
    }
    return text;
  }

  /** Replaces what the parser refuses; not if it is a mistake in any YAML. */
  boolean accept(SyntaxError refused) {
    int index = refused.index();
    if (isEscaped(index) && (points[index] == '/' || points[index] == '\t')) {
      points[index - 1] = nothing;
      return true;
    }
    if (isTab(index) && !isIndentation(index)) {
      for (int at = index; at < points.length && source.isSpace(at); at++) {
        points[at] = ' ';
      }
      return true;
    }
    if (refused.problem().startsWith("expected ',' or ") && refused.problem().endsWith("got ?")) {
      points[index] = questionMark;
      return true;
    }
    return false;
  }

  private boolean isEscaped(int index) {
    return index > 0 && index < points.length && points[index - 1] == '\\';
  }

  boolean isTab(int index) {
    return index < points.length && points[index] == '\t';
  }

  /** Whether the column of what follows counts. */
  private boolean isIndentation(int tab) {
    int start = source.lineStart(tab);
    String before = source.text(start, tab).strip();
    String after = source.text(tab, source.lineEnd(tab)).strip();
    if (before.isEmpty()) {
      return !(after.isEmpty() || after.startsWith("#") || isInBrackets(start, after));
    }
    boolean beginsItem = before.matches("[-?:]([ \\t]+[-?:])*");
    boolean isKey = after.matches(".*:([ \\t].*)?");
    return beginsItem && isKey;
  }

  /** Whether a line lies within brackets or braces, as far as it and the one before it tell. */
  private boolean isInBrackets(int lineStart, String line) {
    int before = lineStart - 1;
    while (before >= 0 && source.isBlank(before)) {
      before--;
    }
    return (before >= 0 && "[{,".indexOf(source.point(before)) >= 0)
        || "]},".indexOf(line.charAt(0)) >= 0;
  }
}
