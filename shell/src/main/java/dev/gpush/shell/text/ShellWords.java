package dev.gpush.shell.text;

import java.util.ArrayList;
import java.util.List;

/** Words as a shell reads them; {@link dev.gpush.core.text.ShellQuote} writes them. */
public final class ShellWords {
  private ShellWords() {}

  /**
   * Reads a text, which may end in the middle of a word, at spaces and line breaks, with single
   * quotes, double quotes, backslashes and comments as in a shell; nothing is expanded.
   */
  public static Scan scan(String text) {
    return new Reader(text).scan();
  }

  /**
   * What was read.
   *
   * @param lines the words of each line that has any
   * @param before the words of the last line, without the one begun
   * @param begun the word in which the text ends, as far as it goes; empty between words
   * @param begunAt where that word begins; the text's length between words
   * @param isFinished no quote is open and no line continues
   */
  public record Scan(
      List<List<String>> lines,
      List<String> before,
      String begun,
      int begunAt,
      boolean isFinished) {
    public Scan {
      lines = List.copyOf(lines);
      before = List.copyOf(before);
    }
  }

  /** One pass over a text. */
  private static final class Reader {
    private static final char NONE = 0;

    private final String text;
    private final List<List<String>> lines = new ArrayList<>();
    private List<String> line = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean inWord;
    private int wordAt;
    private char quote = NONE;
    private boolean isCut;
    private int at;

    Reader(String text) {
      this.text = text;
    }

    Scan scan() {
      for (at = 0; at < text.length(); at++) {
        letter(text.charAt(at));
      }
      var before = List.copyOf(line);
      String begun = word.toString();
      int begunAt = inWord ? wordAt : text.length();
      boolean isFinished = quote == NONE && !isCut;
      endLine();
      return new Scan(lines, before, begun, begunAt, isFinished);
    }

    private void letter(char c) {
      if (quote != NONE && c == quote) {
        quote = NONE;
      } else if (quote == '\'') {
        word.append(c);
      } else if (c == '\\') {
        escaped();
      } else if (quote == '"') {
        word.append(c);
      } else if (c == '\'' || c == '"') {
        begin();
        quote = c;
      } else if (c == '\n') {
        endLine();
      } else if (c == ' ' || c == '\t' || c == '\r') {
        endWord();
      } else if (c == '#' && !inWord) {
        comment();
      } else {
        begin();
        word.append(c);
      }
    }

    private void escaped() {
      if (at + 1 == text.length()) {
        begin();
        isCut = true;
        return;
      }
      char next = text.charAt(++at);
      if (next == '\n') {
        return; // The line goes on.
      }
      begin();
      if (quote == '"' && "\"\\$`".indexOf(next) < 0) {
        word.append('\\');
      }
      word.append(next);
    }

    private void comment() {
      int end = text.indexOf('\n', at);
      at = end < 0 ? text.length() : end - 1;
    }

    private void begin() {
      if (!inWord) {
        inWord = true;
        wordAt = at;
      }
    }

    private void endWord() {
      if (inWord) {
        line.add(word.toString());
        word.setLength(0);
        inWord = false;
      }
    }

    private void endLine() {
      endWord();
      if (!line.isEmpty()) {
        lines.add(line);
        line = new ArrayList<>();
      }
    }
  }
}
