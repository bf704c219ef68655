package dev.gpush.tidy;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The lines of a Markdown text that a paragraph or a list item is made of. */
final class MarkdownProse {
  /** Headings, tables, indented code, comments and references stay on the line they are on. */
  private static final Pattern NO_PROSE = Pattern.compile("( {4}| *(#|\\||<|\\[[^\\]]+\\]:)).*");

  private MarkdownProse() {}

  /** "LINE: TEXT" of those that could be shorter: a line of one word cannot. */
  static List<String> longerThan(int columns, String markdown) {
    var found = new ArrayList<String>();
    boolean inFence = false;
    int number = 0;
    for (String line : markdown.lines().toList()) {
      number++;
      if (line.strip().startsWith("```") || line.strip().startsWith("~~~")) {
        inFence = !inFence;
      } else if (!inFence
          && line.codePointCount(0, line.length()) > columns
          && !NO_PROSE.matcher(line).matches()
          && line.strip().contains(" ")) {
        found.add(number + ": " + line);
      }
    }
    return found;
  }
}
