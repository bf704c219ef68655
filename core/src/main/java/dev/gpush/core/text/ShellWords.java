package dev.gpush.core.text;

import java.util.ArrayList;
import java.util.List;

/** Words as a shell reads them; {@link ShellQuote} writes them. */
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
   * A word of a text.
   *
   * @param text without its quotes
   * @param from where it begins, with its quotes
   * @param to behind its end
   */
  public record Word(String text, int from, int to) {}

  /**
   * A line that has words.
   *
   * @param text as it was typed
   * @param operators the first of it that a shell takes for something else than words, such as
   *     {@code &&}; empty if all that could be one is quoted
   */
  public record Typed(List<Word> placed, String text, String operators) {
    public Typed {
      placed = List.copyOf(placed);
    }

    public List<String> words() {
      return placed.stream().map(Word::text).toList();
    }
  }

  /**
   * What was read.
   *
   * @param before the words of the last line, without the one begun
   * @param begun the word in which the text ends, as far as it goes; empty between words
   * @param begunAt where that word begins; the text's length between words
   * @param isFinished no quote is open and no line continues
   */
  public record Scan(
      List<Typed> lines, List<String> before, String begun, int begunAt, boolean isFinished) {
    public Scan {
      lines = List.copyOf(lines);
      before = List.copyOf(before);
    }
  }

  /** One pass over a text. */
  private static final class Reader {
    private static final char NONE = 0;
    private static final String OPERATORS = "|&;<>";

    private final String text;
    private final List<Typed> lines = new ArrayList<>();
    private List<Word> line = new ArrayList<>();
    private final StringBuilder operators = new StringBuilder();
    private int operatorsEnd;
    private int lineAt;
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
      List<String> before = line.stream().map(Word::text).toList();
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
        operator(c);
      }
    }

    private void operator(char c) {
      if (OPERATORS.indexOf(c) >= 0 && (operators.isEmpty() || operatorsEnd == at)) {
        operators.append(c);
        operatorsEnd = at + 1;
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
        line.add(new Word(word.toString(), wordAt, Math.min(at, text.length())));
        word.setLength(0);
        inWord = false;
      }
    }

    private void endLine() {
      endWord();
      int end = Math.min(at, text.length());
      if (!line.isEmpty()) {
        lines.add(new Typed(line, text.substring(lineAt, end), operators.toString()));
        line = new ArrayList<>();
        operators.setLength(0);
      }
      lineAt = end + 1;
    }
  }
}
