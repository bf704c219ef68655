package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.control.client.process.Origin;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.fake.ManualClock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.LineDisciplineTerminal;
import org.jline.utils.ScreenTerminal;

/** A shell on a terminal of a test, which types keys and reads what is written. */
final class ShellScreen implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Before the cell in which it is. */
  private static final char CURSOR = '▮';

  /** The bytes, one in each letter: the terminal may write a part of a letter. */
  private final StringBuilder written = new StringBuilder();

  /** What a user sees; it pulls lines back when it grows, as most terminals do. */
  private final ScreenTerminal seen;

  private final ByteArrayOutputStream letter = new ByteArrayOutputStream();

  private final CopyOnWriteArrayList<Throwable> bugs = new CopyOnWriteArrayList<>();
  private final Tasks tasks = Tasks.named("screen", (_, bug) -> bugs.add(bug));
  final ManualClock clock = new ManualClock();
  final LineDisciplineTerminal terminal;
  private final Task<Integer, RuntimeException> shell;

  ShellScreen(FakeCommandRunner runner, Path folder, Loop.Manner manner, int rows)
      throws IOException {
    terminal = new LineDisciplineTerminal("test", "xterm", new Written(), StandardCharsets.UTF_8);
    terminal.setSize(Size.of(100, rows));
    seen = new ScreenTerminal(100, rows);
    var environment = new HashMap<>(Map.of("HOME", folder.toString()));
    if (manner == Loop.Manner.PLAIN) {
      environment.put("GPUSH_PLAIN", "1");
    }
    var origin =
        new Origin(folder.resolve("home"), "build", folder, environment, 1, List.of("gateway"));
    shell = tasks.forkOnThread("loop", () -> Loop.run(origin, terminal, runner::in, clock));
  }

  private final class Written extends OutputStream {
    @Override
    public void write(int value) {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      synchronized (written) {
        written.append(new String(bytes, offset, length, StandardCharsets.ISO_8859_1));
        show(bytes, offset, length);
        written.notifyAll();
      }
    }
  }

  /** Whole letters; the first byte of one says how many follow. */
  private void show(byte[] bytes, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      letter.write(bytes[i]);
      int first = letter.toByteArray()[0] & 0xff;
      int size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
      if (letter.size() == size) {
        seen.write(letter.toString(StandardCharsets.UTF_8));
        letter.reset();
      }
    }
  }

  void type(String keys) throws IOException {
    terminal.processInputBytes(keys.getBytes(StandardCharsets.UTF_8));
  }

  void resize(int columns, int rows) {
    synchronized (written) {
      seen.setSize(Size.of(columns, rows));
    }
    terminal.setSize(Size.of(columns, rows));
    terminal.raise(Terminal.Signal.WINCH);
  }

  /** Waits until this was written since the last call, and takes all until there. */
  String await(String text) throws InterruptedException {
    String bytes = bytes(text);
    long end = System.nanoTime() + LIMIT.toNanos();
    synchronized (written) {
      while (written.indexOf(bytes) < 0) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          throw new AssertionError("no " + text + " in " + rest());
        }
        TimeUnit.NANOSECONDS.timedWait(written, left);
      }
      String all = written.substring(0, written.indexOf(bytes) + bytes.length());
      written.delete(0, all.length());
      return text(all);
    }
  }

  /** Waits until a user sees exactly this, below each other, with the cursor behind the mark. */
  void awaitSight(String sight) throws InterruptedException {
    long end = System.nanoTime() + LIMIT.toNanos();
    synchronized (written) {
      while (!sight().equals(sight)) {
        long left = end - System.nanoTime();
        if (left <= 0) {
          assertEquals(sight, sight());
        }
        TimeUnit.NANOSECONDS.timedWait(written, left);
      }
    }
  }

  /** The rows without spaces at their ends, down to the last that is not empty. */
  private String sight() {
    var cells = new long[seen.getRows() * seen.getColumns()];
    var cursor = new int[2];
    seen.dump(cells, cursor);
    var rows = new StringBuilder();
    for (int row = 0; row < seen.getRows(); row++) {
      var text = new StringBuilder();
      for (int column = 0; column < seen.getColumns(); column++) {
        if (cursor[0] == column && cursor[1] == row) {
          text.append(CURSOR);
        }
        int letter = ScreenTerminal.cellCodePoint(cells[row * seen.getColumns() + column]);
        if (letter != 0) {
          text.appendCodePoint(letter);
        }
      }
      rows.append(text.toString().stripTrailing()).append('\n');
    }
    return rows.toString().stripTrailing() + "\n";
  }

  /** What was written since. */
  String rest() {
    synchronized (written) {
      return text(written.toString());
    }
  }

  private static String bytes(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  private static String text(String bytes) {
    return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }

  int status() throws InterruptedException {
    return shell.get();
  }

  @Override
  public void close() throws IOException {
    terminal.close(); // Its reader hears no interrupt.
    tasks.close();
    if (!bugs.isEmpty()) {
      throw new IllegalStateException("a thread of the shell failed", bugs.getFirst());
    }
  }
}
