package dev.gpush.shell.loop;

import dev.gpush.shell.text.Prose;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jline.reader.LineReader;
import org.jline.reader.Widget;
import org.jline.reader.impl.LineReaderImpl;
import org.jline.terminal.Terminal;
import org.jline.utils.AttributedString;

/**
 * Edits lines, while what is around the line changes. JLine holds its lock for each key, so another
 * thread that takes the lock finds a line that is whole, and draws between two keys.
 */
final class LiveReader extends LineReaderImpl {
  /** With fewer rows, none is given to the line below. */
  private static final int ROWS = 10;

  // guarded by lock
  private String last = "";

  /**
   * @param begun called whenever it begins to edit a line, which can be drawn around from then on
   */
  LiveReader(Terminal terminal, Map<String, Object> variables, Runnable begun) {
    super(terminal, "gpush", variables);
    Widget began =
        () -> {
          begun.run();
          return true;
        };
    getWidgets().put(LineReader.CALLBACK_INIT, began);
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
   * With the line below. JLine's own status line is not used: when the window changes its size, it
   * clears the rows where it was before, which hold output in most terminals by then.
   */
  @Override
  public AttributedString getDisplayedBufferWithPrompts(List<AttributedString> secondaryPrompts) {
    AttributedString line = super.getDisplayedBufferWithPrompts(secondaryPrompts);
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
