package dev.gpush.shell.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Sentences in a terminal: lines end between words, and where it can be avoided not within a
 * command, so that its options can be copied with it. Without a terminal a sentence is one line.
 */
public final class Prose {
  /** What a sentence goes on with. */
  private static final String CONTINUED = "    ";

  /** In less room than this the terminal breaks lines as well. */
  private static final int LEAST = 20;

  private Prose() {}

  /**
   * The lines of a sentence.
   *
   * @param lead before the first line
   * @param columns of the terminal; 0: no terminal
   */
  public static List<String> lines(String lead, String text, int columns) {
    return lines(
        lead, " ".repeat(lead.length() - lead.stripLeading().length()) + CONTINUED, text, columns);
  }

  /**
   * As {@link #lines(String, String, int)}.
   *
   * @param next before all other lines
   */
  public static List<String> lines(String lead, String next, String text, int columns) {
    if (columns - Width.of(next) < LEAST || Width.of(lead + text) <= columns) {
      return List.of(lead + text);
    }
    var lines = new ArrayList<String>();
    var line = new StringBuilder(lead);
    String gap = "";
    for (String unit : units(text, columns - Width.of(next))) {
      if (!gap.isEmpty() && Width.of(line + gap + unit) > columns) {
        lines.add(line.toString());
        line = new StringBuilder(next);
        gap = "";
      }
      line.append(gap).append(unit);
      gap = " ";
    }
    lines.add(line.toString());
    return lines;
  }

  /** Words, and those that are better kept together if there is room. */
  private static List<String> units(String text, int room) {
    var units = new ArrayList<String>();
    String before = "";
    for (String word : text.split(" ", -1)) {
      String joined = units.isEmpty() ? word : units.getLast() + " " + word;
      if (!units.isEmpty() && belong(before, word) && Width.of(joined) <= room) {
        units.set(units.size() - 1, joined);
      } else {
        units.add(word);
      }
      before = word;
    }
    return units;
  }

  /** An option with its command and its value, and a verb with gpush. */
  private static boolean belong(String before, String word) {
    return before.equals("gpush") || isOption(before) || isOption(word);
  }

  private static boolean isOption(String word) {
    return word.length() > 1 && word.charAt(0) == '-';
  }
}
