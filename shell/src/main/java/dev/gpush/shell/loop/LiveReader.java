package dev.gpush.shell.loop;

import dev.gpush.core.text.ShellWords;
import dev.gpush.shell.text.Prose;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jline.reader.Highlighter;
import org.jline.reader.History;
import org.jline.reader.LineReader;
import org.jline.reader.Widget;
import org.jline.reader.impl.LineReaderImpl;
import org.jline.terminal.Terminal;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;
import org.jline.utils.InfoCmp;

/**
 * Edits lines, while what is around the line changes. JLine holds its lock for each key, so another
 * thread that takes the lock finds a line that is whole, and draws between two keys.
 */
final class LiveReader extends LineReaderImpl {
  private static final int FEWEST_COLOURS = 8;

  /** With fewer rows, none is given to the line below. */
  private static final int ROWS = 10;

  private static final AttributedStyle WRONG =
      AttributedStyle.DEFAULT.foreground(AttributedStyle.RED).underline();

  // guarded by lock
  private String last = "";
  private boolean suggests;
  private String looked = "";
  private String found = "";

  /**
   * @param begun called whenever it begins to edit a line, which can be drawn around from then on
   */
  LiveReader(Terminal terminal, Map<String, Object> variables, Runnable begun) {
    super(terminal, "gpush", variables);
    Widget began =
        () -> {
          looked = "";
          begun.run();
          return true;
        };
    getWidgets().put(LineReader.CALLBACK_INIT, began);
  }

  /**
   * From now on, words that cannot be right are marked, and what was typed before is suggested
   * where the terminal can show it in another colour.
   */
  void helps(Supplier<KnownWords> known) {
    Integer colours = terminal.getNumericCapability(InfoCmp.Capability.max_colors);
    suggests = colours != null && colours >= FEWEST_COLOURS;
    Highlighter plain = getHighlighter();
    setHighlighter((reader, text) -> marked(plain.highlight(reader, text), text, known.get()));
  }

  private AttributedString marked(AttributedString shown, String text, KnownWords known) {
    if (shown.length() != text.length()) {
      return shown; // Control characters are shown as two.
    }
    var marked = new AttributedStringBuilder();
    int at = 0;
    for (ShellWords.Word word : LineMarks.of(text, buf.cursor() == text.length(), known)) {
      marked.append(shown.subSequence(at, word.from()));
      marked.styled(WRONG, text.substring(word.from(), word.to()));
      at = word.to();
    }
    return marked.append(shown.subSequence(at, shown.length())).toAttributedString();
  }

  /**
   * What is around the line.
   *
   * @param prompt before it, with its colours
   * @param above new lines above it
   * @param below the line below it; empty: none
   */
  record Around(String prompt, List<String> above, String below) {
    Around {
      above = List.copyOf(above);
    }
  }

  /** Draws the news around the line being edited. Without such a line it does not ask for them. */
  void show(Supplier<Around> news) {
    lock.lock();
    try {
      if (!isReading()) {
        return;
      }
      Around around = news.get();
      around.above().stream()
          .flatMap(line -> Prose.lines("", line, size.getColumns()).stream())
          .forEach(this::printAbove);
      setPrompt(prompt(around.prompt()));
      last = around.below();
      redisplay();
    } finally {
      lock.unlock();
    }
  }

  /** JLine expands what follows a percent sign. */
  static String prompt(String text) {
    return text.replace("%", "%%");
  }

  /**
   * The rest of the newest line that began like this one; empty: none. JLine's own suggestion looks
   * up each line of the history by its number, which takes the square of its length for each key.
   */
  private String suggestion() {
    String text = buf.toString();
    boolean isAtEnd = buf.cursor() == buf.length();
    if (!suggests || !isReading() || post != null || text.isBlank() || !isAtEnd) {
      return "";
    }
    boolean isKnown = !looked.isEmpty() && text.startsWith(looked);
    if (!isKnown || !(found.isEmpty() || goesOn(text, found))) {
      found = "";
      Iterator<History.Entry> lines = history.reverseIterator();
      while (found.isEmpty() && lines.hasNext()) {
        String line = lines.next().line();
        found = goesOn(text, line) ? line : "";
      }
    }
    looked = text;
    return found.isEmpty() ? "" : found.substring(text.length());
  }

  private static boolean goesOn(String text, String line) {
    return line.length() > text.length()
        && line.startsWith(text)
        && line.chars().noneMatch(Character::isISOControl);
  }

  /** At the end of the line it takes the suggestion. */
  @Override
  protected boolean forwardChar() {
    return takeSuggestion() || super.forwardChar();
  }

  /** At the end of the line it takes the suggestion. */
  @Override
  protected boolean endOfLine() {
    return takeSuggestion() || super.endOfLine();
  }

  private boolean takeSuggestion() {
    String suggested = suggestion();
    buf.write(suggested);
    return !suggested.isEmpty();
  }

  /** As much as fits into this row and the next. */
  private AttributedString withSuggestion(AttributedString line) {
    int columns = Math.max(1, size.getColumns());
    int room = 2 * columns - 1 - line.columnLength(terminal) % columns;
    return new AttributedStringBuilder()
        .append(line)
        .styled(AttributedStyle.DEFAULT.faint(), Width.cut(suggestion(), room))
        .toAttributedString();
  }

  /**
   * With the line below. JLine's own status line is not used: when the window changes its size, it
   * clears the rows where it was before, which hold output in most terminals by then.
   */
  @Override
  public AttributedString getDisplayedBufferWithPrompts(List<AttributedString> secondaryPrompts) {
    boolean isEdited = doAutosuggestion; // Not while its end is drawn; the next call resets it.
    AttributedString typed = super.getDisplayedBufferWithPrompts(secondaryPrompts);
    AttributedString line = isEdited ? withSuggestion(typed) : typed;
    boolean hasRoom = size.getRows() >= ROWS && post == null; // A menu or a search has the place.
    return last.isEmpty() || !hasRoom
        ? line
        : AttributedString.join(
            AttributedString.NEWLINE,
            line,
            new AttributedString(Width.cut(last, size.getColumns() - 1)));
  }

  /** A line that was read stands alone. */
  @Override
  protected void cleanup() {
    last = "";
    super.cleanup();
  }

  /**
   * Another size may have no room for the line below, or for another part of it. A line that does
   * not fit the window is drawn by the next key: where it is depends on the terminal.
   */
  @Override
  protected void handleSignal(Terminal.Signal signal) {
    super.handleSignal(signal);
    if (signal == Terminal.Signal.WINCH) {
      lock.lock();
      try {
        AttributedString line = super.getDisplayedBufferWithPrompts(new ArrayList<>());
        if (!last.isEmpty() && line.columnLength(terminal) < size.getColumns()) {
          display.update(List.of(), 0);
          redisplay();
        }
      } finally {
        lock.unlock();
      }
    }
  }
}
