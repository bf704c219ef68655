package dev.gpush.shell.top;

import dev.gpush.control.server.Invocation;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.shell.console.CommandConsole;
import dev.gpush.shell.console.ReaderGone;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Draws the screen and reads keys until the user quits. It draws on the terminal's own screen,
 * without an alternate one and without hiding the cursor, so that a gateway that dies leaves
 * nothing to be restored but the keys, which the client does; what was there is scrolled up.
 */
public final class TopLoop {
  private static final int COLUMNS = 80;
  private static final int ROWS = 24;
  private static final int KEYS = 256;
  private static final String CLEAR = "\u001b[2J";
  private static final String RESET = "\u001b[0m";

  private final Invocation invocation;
  private final CommandConsole console;
  private final TopInbox inbox = new TopInbox();
  private final boolean hasColours;
  private TopView view;
  private Optional<TopPicture> picture = Optional.empty();
  private int drawn;

  public TopLoop(Invocation invocation, CommandConsole console, TopView view) {
    this.invocation = invocation;
    this.console = console;
    this.view = view;
    this.hasColours = invocation.facts().colours() > 0;
  }

  /**
   * Until q (status 0), or Ctrl-C or the end of the client (130).
   *
   * @param pictures gives the next one, and blocks until there is one
   */
  public int run(Streams.Terminal terminal, Work<TopPicture, GpushException> pictures)
      throws InterruptedException {
    invocation.onSignal(
        name -> {
          if (name.equals("WINCH")) {
            inbox.resized();
          } else {
            inbox.over();
          }
        });
    try (Tasks tasks =
            Tasks.named("top", (_, bug) -> inbox.failed(new IllegalStateException(bug)));
        Streams.Raw _ = terminal.raw()) {
      tasks.start("samples", () -> samples(pictures));
      tasks.start("keys", this::keys);
      write("\r\n".repeat(rows(terminal)));
      return loop(terminal);
    }
  }

  private void samples(Work<TopPicture, GpushException> pictures) throws InterruptedException {
    try {
      while (true) {
        inbox.picture(pictures.run());
      }
    } catch (GpushException ended) {
      inbox.failed(ended);
    }
  }

  private void keys() {
    byte[] bytes = new byte[KEYS];
    InputStream in = invocation.in();
    try {
      for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
        inbox.keys(Keystroke.of(bytes, count));
      }
    } catch (IOException gone) {
      inbox.over();
    }
  }

  private int loop(Streams.Terminal terminal) throws InterruptedException {
    try {
      while (true) {
        TopInbox.News news = inbox.await();
        if (news.isOver()) {
          return ExitStatus.INTERRUPTED.number();
        }
        picture = news.picture().or(() -> picture);
        for (Keystroke key : news.keys()) {
          if (key.kind() == Keystroke.Kind.INTERRUPT) {
            return ExitStatus.INTERRUPTED.number();
          }
          if (view.typing().isEmpty() && key.letter() == 'q') {
            return ExitStatus.DONE.number();
          }
          view = view.after(key, picture.map(now -> TopScreen.order(now, view)).orElse(List.of()));
        }
        draw(terminal, news.isResized());
      }
    } finally {
      leave(terminal);
    }
  }

  private void draw(Streams.Terminal terminal, boolean isResized) {
    int columns = terminal.columns() > 0 ? terminal.columns() : COLUMNS;
    int rows = rows(terminal);
    var text = new StringBuilder(isResized ? CLEAR : "");
    List<ScreenLine> lines =
        picture
            .map(
                now -> {
                  view = view.within(TopScreen.mostScroll(now, view, columns, rows));
                  return TopScreen.lines(now, view, columns, rows);
                })
            .orElse(List.of(ScreenLine.plain("asking the nodes …")));
    for (int row = 0; row < Math.max(lines.size(), isResized ? 0 : Math.min(drawn, rows)); row++) {
      // Erased before it is written: at the last column a terminal would erase the last letter.
      text.append("\u001b[").append(row + 1).append(";1H\u001b[2K");
      if (row < lines.size()) {
        text.append(painted(lines.get(row)));
      }
    }
    drawn = lines.size();
    write(text.toString());
  }

  private static int rows(Streams.Terminal terminal) {
    return terminal.rows() > 0 ? terminal.rows() : ROWS;
  }

  private String painted(ScreenLine line) {
    String code =
        switch (line.style()) {
          case PLAIN -> "";
          case HEADING -> "2";
          case ALARM -> "31";
          case SELECTED -> "1";
        };
    return hasColours && !code.isEmpty()
        ? "\u001b[" + code + "m" + line.text() + RESET
        : line.text();
  }

  /** The last screen stays; what follows begins on a line of its own. */
  private void leave(Streams.Terminal terminal) {
    try {
      write("\u001b[" + rows(terminal) + ";1H\u001b[2K");
    } catch (ReaderGone gone) {
      // The status says how it ended.
    }
  }

  private void write(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    console.write(false, bytes);
  }
}
