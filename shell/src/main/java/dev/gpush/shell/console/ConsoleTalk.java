package dev.gpush.shell.console;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.HowFar;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.Look;
import dev.gpush.shell.text.Prose;
import dev.gpush.shell.text.Width;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Talk on a command's console. Of the steps in progress the newest that has taken long enough is
 * shown, as {@link ProgressForm} says. Quiet prints no messages, but still asks.
 */
public final class ConsoleTalk implements Talk, AutoCloseable {
  /** Shorter steps are not shown. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  /** Where a line stays, as in the log of a build. */
  private static final Duration PLAIN_PATIENCE = Duration.ofSeconds(3);

  /** An event about a step of an hour comes six minutes after the one before. */
  private static final int RAREST = 10;

  /** When a step first began is known for at most this many different ones. */
  private static final int MOST_KNOWN = 1000;

  /** In fewer columns, what it waits for needs them all. */
  private static final int LEAST = 60;

  /** How steps are shown. */
  public enum ProgressForm {
    QUIET,
    /** One line that changes. */
    LINE,
    /** Each step is one line, once; those around one that was said are none. */
    LINES,
    /** For programs: JSON objects, each time that another step or detail is the newest. */
    EVENTS;

    public static ProgressForm of(boolean quiet, boolean json, Look look) {
      if (quiet) {
        return QUIET;
      }
      if (look.progress()) {
        return LINE;
      }
      return json ? EVENTS : LINES;
    }
  }

  private final CommandConsole console;
  private final Clock clock;
  private final Ticker ticker;
  private final Asker asker;
  private final ProgressForm form;
  private final boolean yes;
  private final Object lock = new Object();

  // guarded by lock:
  private final List<Open> open = new ArrayList<>();
  private boolean asking;
  private boolean closed;
  private Ticker.Ticking ticking = () -> {};
  private boolean ticks;
  private final Map<String, Long> known = new HashMap<>();
  private String shown = "";
  private long quietSince;
  private long endedAt;

  /**
   * A talk of one command.
   *
   * @param yes answers every question that {@code --yes} answers
   */
  public ConsoleTalk(
      CommandConsole console,
      Clock clock,
      Ticker ticker,
      Asker asker,
      ProgressForm form,
      boolean yes) {
    this.console = console;
    this.clock = clock;
    this.ticker = ticker;
    this.asker = asker;
    this.form = form;
    this.yes = yes;
    this.endedAt = clock.nanos();
  }

  @Override
  public void say(String line) {
    if (form != ProgressForm.QUIET) {
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
      if (form == ProgressForm.QUIET || closed) {
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
      switch (form) {
        case QUIET -> {}
        case LINE ->
            open.reversed().stream()
                .filter(step -> now - step.since >= PATIENCE.toNanos())
                .findFirst()
                .ifPresent(step -> console.progress(step.line(now)));
        case LINES ->
            newest(now, PLAIN_PATIENCE)
                .filter(step -> !step.said)
                .ifPresent(
                    step -> {
                      said(step);
                      write(step.words() + " …");
                    });
        case EVENTS ->
            newest(now, PATIENCE)
                .filter(step -> isNews(step, now))
                .ifPresent(
                    step -> {
                      said(step);
                      shown = step.words();
                      quietSince = now;
                      console.err(step.event(now));
                    });
      }
    }
  }

  /** One around another is said later, so that the inner one is said in its place if it is long. */
  // holds lock
  private Optional<Open> newest(long now, Duration patience) {
    return open.reversed().stream()
        .filter(
            step ->
                now - step.since
                    >= patience.multipliedBy(step.equals(open.getLast()) ? 1 : 2).toNanos())
        .findFirst();
  }

  // holds lock
  private void said(Open step) {
    if (known.size() > MOST_KNOWN) {
      known.clear();
    }
    for (Open each : open.subList(0, open.indexOf(step) + 1)) {
      each.said = true;
      known.putIfAbsent(each.what, each.since);
    }
  }

  /** What is not new is written the rarer the longer it takes: a queue may take days. */
  // holds lock
  private boolean isNews(Open step, long now) {
    Optional<Long> first = Optional.ofNullable(known.get(step.what));
    if (first.isEmpty() || step.words().equals(shown)) {
      return first.isEmpty();
    }
    long pause = Math.max(PLAIN_PATIENCE.toNanos(), (now - first.get()) / RAREST);
    return now - quietSince >= pause && now - endedAt >= PLAIN_PATIENCE.toNanos();
  }

  private void end(Open step) {
    synchronized (lock) {
      if (!open.remove(step)) {
        return;
      }
      endedAt = clock.nanos();
      if (form == ProgressForm.LINE && !asking) {
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
    private HowFar far = HowFar.unknown();
    private boolean said;

    Open(String what, long since) {
      this.what = what;
      this.since = since;
    }

    @Override
    public void show(HowFar now) {
      synchronized (lock) {
        far = now;
      }
    }

    @Override
    public void close() {
      end(this);
    }

    private String words() {
      return Clean.line(what) + (far.text().isEmpty() ? "" : ": " + Clean.line(far.text()));
    }

    private String event(long now) {
      Optional<HowFar> counted = Optional.of(far).filter(HowFar::isCounted);
      return Json.object(
              "event",
              "progress",
              "what",
              Clean.line(what),
              "detail",
              Clean.line(far.text()),
              "done",
              counted.map(HowFar::done),
              "of",
              counted.map(HowFar::of),
              "since_s",
              Duration.ofNanos(now - since).toSeconds())
          .write();
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
