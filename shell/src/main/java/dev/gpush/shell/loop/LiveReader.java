package dev.gpush.shell.loop;

import dev.gpush.shell.text.Width;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jline.reader.LineReader;
import org.jline.reader.Widget;
import org.jline.reader.impl.LineReaderImpl;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.utils.AttributedString;
import org.jline.utils.Status;

/**
 * Edits lines, while what is around the line changes. JLine holds its lock for each key, so another
 * thread that takes the lock finds a line that is whole, and draws between two keys.
 */
final class LiveReader extends LineReaderImpl {
  /** With fewer rows, none is given to the status line. */
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
   * @param bottom at the bottom of the terminal; empty: nothing
   */
  record Around(String prompt, List<String> above, String bottom) {
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
      around.above().forEach(this::printAbove);
      setPrompt(prompt(around.prompt()));
      last = around.bottom();
      bottom();
      redisplay();
    } finally {
      lock.unlock();
    }
  }

  /** The terminal gets another owner. */
  void leave() {
    lock.lock();
    try {
      last = "";
      bottom();
    } finally {
      lock.unlock();
    }
  }

  /** JLine expands what follows a percent sign. */
  static String prompt(String text) {
    return text.replace("%", "%%");
  }

  /** Another size may have no room for the line at the bottom, or for another part of it. */
  @Override
  protected void handleSignal(Terminal.Signal signal) {
    super.handleSignal(signal);
    if (signal == Terminal.Signal.WINCH) {
      lock.lock();
      try {
        bottom();
        redisplay();
      } finally {
        lock.unlock();
      }
    }
  }

  private void bottom() {
    Size size = terminal.getSize();
    String text = size.getRows() < ROWS ? "" : Width.cut(last, size.getColumns() - 1);
    if (text.isEmpty()) {
      Status.getExistingStatus(terminal).ifPresent(status -> update(status, List.of()));
    } else {
      update(Status.getStatus(terminal), List.of(new AttributedString(text)));
    }
  }

  /** JLine itself tells it no size while it is empty. */
  private static void update(Status status, List<AttributedString> lines) {
    status.resize();
    status.update(lines);
  }
}
