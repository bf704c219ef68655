package dev.gpush.shell.console;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.Prose;
import dev.gpush.shell.text.Width;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Talk on a command's console. On a terminal the newest step that has taken half a second is one
 * line that changes. Elsewhere the newest that has taken some seconds is one line, once, and those
 * around it are none. Quiet prints no messages, but still asks.
 */
public final class ConsoleTalk implements Talk, AutoCloseable {
  /** Shorter steps are not shown. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  /** Where a line stays, as in the log of a build. */
  private static final Duration PLAIN_PATIENCE = Duration.ofSeconds(3);

  /** In fewer columns, what it waits for needs them all. */
  private static final int LEAST = 60;

  private final CommandConsole console;
  private final Clock clock;
  private final Ticker ticker;
  private final Asker asker;
  private final boolean quiet;
  private final boolean yes;
  private final Object lock = new Object();

  // guarded by lock:
  private final List<Open> open = new ArrayList<>();
  private boolean asking;
  private boolean closed;
  private Ticker.Ticking ticking = () -> {};
  private boolean ticks;

  /**
   * A talk of one command.
   *
   * @param yes answers every question that {@code --yes} answers
   */
  public ConsoleTalk(
      CommandConsole console, Clock clock, Ticker ticker, Asker asker, boolean quiet, boolean yes) {
    this.console = console;
    this.clock = clock;
    this.ticker = ticker;
    this.asker = asker;
    this.quiet = quiet;
    this.yes = yes;
  }

  @Override
  public void say(String line) {
    if (!quiet) {
      write(Clean.line(line));
    }
  }

  private void write(String line) {
    console.err(String.join("\n", Prose.lines("", line, console.look().errorColumns())));
  }

  @Override
  public Step step(String what) {
    var step = new Open(what, clock.nanos());
    synchronized (lock) {
      if (quiet || closed) {
        return step;
      }
      open.add(step);
      if (!ticks) {
        ticks = true;
        ticking = ticker.start(this::show);
      }
    }
    return step;
  }

  @Override
  public boolean isAnswered(String flag) {
    return yes && flag.equals("--yes");
  }

  @Override
  public void confirm(String question, String flag) {
    if (isAnswered(flag)) {
      return;
    }
    synchronized (lock) {
      asking = true;
    }
    try {
      if (console.look().progress()) {
        console.progress("");
      }
      String answer =
          asker
              .ask(Clean.line(question) + " [y/N] ")
              .orElseThrow(() -> new GpushException(new UsageFailure.NobodyToAsk(question, flag)))
              .strip()
              .toLowerCase(Locale.ROOT);
      if (!answer.equals("y") && !answer.equals("yes")) {
        throw new GpushException(new UsageFailure.Declined(question));
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(new UsageFailure.Declined(question), stop);
    } finally {
      synchronized (lock) {
        asking = false;
      }
    }
  }

  @Override
  public boolean isCancelled() {
    return asker.isCancelled();
  }

  private void show() {
    synchronized (lock) {
      if (asking || closed) {
        return;
      }
      long now = clock.nanos();
      if (console.look().progress()) {
        open.reversed().stream()
            .filter(step -> now - step.since >= PATIENCE.toNanos())
            .findFirst()
            .ifPresent(step -> console.progress(step.line(now)));
        return;
      }
      // One around another is said later, so that the inner one is said in its place if it is long.
      open.reversed().stream()
          .filter(step -> now - step.since >= patience(step).toNanos())
          .findFirst()
          .filter(step -> !step.said)
          .ifPresent(this::sayOnce);
    }
  }

  // holds lock
  private Duration patience(Open step) {
    return PLAIN_PATIENCE.multipliedBy(step.equals(open.getLast()) ? 1 : 2);
  }

  // holds lock
  private void sayOnce(Open newest) {
    open.subList(0, open.indexOf(newest) + 1).forEach(step -> step.said = true);
    write(newest.words() + " …");
  }

  private void end(Open step) {
    synchronized (lock) {
      if (open.remove(step) && console.look().progress() && !asking) {
        console.progress("");
      }
    }
  }

  @Override
  public void close() {
    Ticker.Ticking ended;
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      open.clear();
      ended = ticking;
    }
    ended.close();
    if (console.look().progress()) {
      console.progress("");
    }
  }

  /** A step in progress. Its fields are guarded by the talk's lock. */
  private final class Open implements Step {
    private final String what;
    private final long since;
    private String detail = "";
    private boolean said;

    Open(String what, long since) {
      this.what = what;
      this.since = since;
    }

    @Override
    public void detail(String text) {
      synchronized (lock) {
        detail = text;
      }
    }

    @Override
    public void close() {
      end(this);
    }

    private String words() {
      return Clean.line(what) + (detail.isEmpty() ? "" : ": " + Clean.line(detail));
    }

    /** A terminal that cuts it shows since when all the same, unless it is narrow. */
    private String line(long now) {
      String age = " · " + DurationText.of(Duration.ofNanos(now - since));
      int columns = console.look().errorColumns();
      int room = columns < LEAST ? 0 : columns - 1 - Width.of(age);
      return Width.cut("… " + words(), room) + age;
    }
  }
}
