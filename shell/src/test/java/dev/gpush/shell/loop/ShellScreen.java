package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.control.place.Origin;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.LineDisciplineTerminal;

/** A shell on a terminal of a test, which types keys and reads what is written. */
final class ShellScreen implements AutoCloseable {
  private static final Duration QUIET = Duration.ofMillis(400);

  /** Half of what a test has, so that one that waits in vain says what was there. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** The bytes, one in each letter: the terminal may write a part of a letter. */
  private final StringBuilder written = new StringBuilder();

  private final SeenScreen seen;
  private final CopyOnWriteArrayList<Throwable> bugs = new CopyOnWriteArrayList<>();
  private final Tasks tasks = Tasks.named("screen", (_, bug) -> bugs.add(bug));
  final ManualClock clock = new ManualClock();
  final EndingTerminal terminal;
  private final Task<Integer, RuntimeException> shell;

  ShellScreen(FakeCommandRunner runner, Path folder, Loop.Manner manner, int rows)
      throws IOException {
    this(
        (origin, _) -> runner.in(origin),
        new Origin(
            folder.resolve("home"),
            "build",
            folder,
            manner == Loop.Manner.PLAIN
                ? Map.of("HOME", folder.toString(), "GPUSH_PLAIN", "1")
                : Map.of("HOME", folder.toString()),
            1,
            List.of("gateway")),
        Size.of(100, rows));
  }

  /**
   * @param runners carry out the lines of a folder on the terminal
   */
  ShellScreen(BiFunction<Origin, Terminal, CommandRunner> runners, Origin origin, Size size)
      throws IOException {
    terminal = new EndingTerminal(new Written());
    terminal.setSize(size);
    seen = new SeenScreen(size);
    shell =
        tasks.forkOnThread(
            "loop", () -> Loop.run(origin, terminal, at -> runners.apply(at, terminal), clock));
  }

  /** Its input may end before it is closed, so that no thread draws on a closed terminal. */
  static final class EndingTerminal extends LineDisciplineTerminal {
    private EndingTerminal(OutputStream screen) throws IOException {
      super("test", "xterm", screen, StandardCharsets.UTF_8);
    }

    private void endInput() throws IOException {
      slaveInputPipe.close();
    }
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
        for (int at = offset; at < offset + length; at++) {
          seen.write(bytes[at]);
        }
        written.notifyAll();
      }
    }
  }

  void type(String keys) throws IOException {
    terminal.processInputBytes(keys.getBytes(StandardCharsets.UTF_8));
  }

  void resize(int columns, int rows) {
    synchronized (written) {
      seen.resize(Size.of(columns, rows));
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
    assertEquals(sight, await(seen::rows, sight::equals));
  }

  /**
   * Waits until a user sees such a window, and gives it: its rows, and below them the words that
   * are not plain, each row's behind how they look.
   */
  String awaitLook(Predicate<String> isShown) throws InterruptedException {
    String look = lastLook(isShown);
    if (!isShown.test(look)) {
      throw new AssertionError("not shown in time; there is:\n" + look);
    }
    return look;
  }

  /** Waits as {@link #awaitLook} does, but gives what is there in the end if that does not come. */
  String lastLook(Predicate<String> isShown) throws InterruptedException {
    return await(() -> seen.rows() + seen.styles(), isShown);
  }

  /** Waits until nothing is written for a moment: for a file that a user reads before it counts. */
  void awaitQuiet() throws InterruptedException {
    synchronized (written) {
      int before = -1;
      while (before != written.length()) {
        before = written.length();
        TimeUnit.NANOSECONDS.timedWait(written, QUIET.toNanos());
      }
    }
  }

  /** Gives what is there in the end, if it does not come. */
  private String await(Supplier<String> shown, Predicate<String> isShown)
      throws InterruptedException {
    long end = System.nanoTime() + LIMIT.toNanos();
    synchronized (written) {
      long left = LIMIT.toNanos();
      while (!isShown.test(shown.get()) && left > 0) {
        TimeUnit.NANOSECONDS.timedWait(written, left);
        left = end - System.nanoTime();
      }
      return shown.get();
    }
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
    terminal.endInput(); // Its reader hears no interrupt.
    tasks.close();
    terminal.close();
    if (!bugs.isEmpty()) {
      throw new IllegalStateException("a thread of the shell failed", bugs.getFirst());
    }
  }
}
