package dev.gpush.shell.loop;

import dev.gpush.core.text.ShellQuote;
import dev.gpush.core.text.ShellWords;
import java.util.ArrayList;
import java.util.List;
import org.jline.reader.CompletingParsedLine;
import org.jline.reader.EOFError;
import org.jline.reader.ParsedLine;
import org.jline.reader.Parser;

/**
 * Lines as {@link ShellWords} reads them: one reader of quotes for editing, completing and carrying
 * out.
 */
final class LineParser implements Parser {
  /** Stays outside of the quotes, in which it would not be expanded. */
  private static final String HOME = "~/";

  @Override
  public ParsedLine parse(String text, int cursor, ParseContext context) {
    if (context == ParseContext.ACCEPT_LINE && !ShellWords.scan(text).isFinished()) {
      throw new EOFError(-1, -1, "the line goes on", "quote");
    }
    String before = text.substring(0, Math.clamp(cursor, 0, text.length()));
    ShellWords.Scan scan = ShellWords.scan(before);
    var words = new ArrayList<>(scan.before());
    words.add(scan.begun());
    return new Begun(text, before.length(), List.copyOf(words), scan.begunAt());
  }

  /** The words up to the cursor; the last is the one being typed, possibly empty. */
  private record Begun(String line, int cursor, List<String> words, int begunAt)
      implements CompletingParsedLine {
    @Override
    public String word() {
      return words.getLast();
    }

    @Override
    public int wordCursor() {
      return word().length();
    }

    @Override
    public int wordIndex() {
      return words.size() - 1;
    }

    @Override
    public CharSequence escape(CharSequence candidate, boolean isComplete) {
      String word = candidate.toString();
      if (word.equals(HOME)) {
        return word;
      }
      return word.startsWith(HOME)
          ? HOME + ShellQuote.of(word.substring(HOME.length()))
          : ShellQuote.of(word);
    }

    @Override
    public int rawWordCursor() {
      return cursor - begunAt;
    }

    @Override
    public int rawWordLength() {
      return rawWordCursor();
    }
  }
}
