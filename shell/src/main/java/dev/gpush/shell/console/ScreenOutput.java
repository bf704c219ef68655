package dev.gpush.shell.console;

import dev.gpush.core.task.Clock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The output of a run, or of a command on several nodes, on a terminal. A line that several ranks
 * print alike is written once, with who printed it; the progress bar of one rank is the line at the
 * bottom, where a line can be rewritten. Of a command, nodes are what ranks are of a run.
 *
 * <p>Whether others print the same line is known only later, so a line is held until all ranks have
 * it, or for a moment. All lines leave in the order in which they came, so those of one rank stay
 * in order. The lines that are held are few: when there are too many, the first leave early, and
 * what would have been one line may be two.
 */
public final class ScreenOutput implements RunPrinter {
  /**
   * Ranks that do the same are a few milliseconds apart; a longer time would make output feel slow.
   */
  public static final Duration RANKS = Duration.ofMillis(300);

  /** A command starts on nodes whose links, disks and loads differ. */
  public static final Duration NODES = Duration.ofSeconds(1);

  private static final int MOST_LINES = 1000;
  private static final int MOST_BYTES = 1 << 20;

  /** A rank keeps the bottom line so long after its bar last moved. */
  private static final Duration OWNED = Duration.ofSeconds(10);

  private final CommandConsole console;
  private final Labels labels;
  private final Duration patience;
  private final Clock clock;
  private final OutputPump pump;
  private final PrefixedLines events;
  private final Ticker.Ticking ticking;
  private final Object lock = new Object();

  // guarded by lock, which is also held while the pump takes a line:
  private final ArrayDeque<WaitingLine> held = new ArrayDeque<>();
  private final Map<String, ArrayDeque<WaitingLine>> byText = new HashMap<>();
  private final Map<Integer, Long> lastOf = new HashMap<>();
  private final Set<Integer> rewriters = new HashSet<>();
  private int heldBytes;
  private long count;
  private boolean closed;

  // of the bar, guarded by lock:
  private int barRank;
  private long barMoved;
  private String bar = "";
  private String drawn = "";

  /** A line that waits for other ranks to print it, too. */
  private static final class WaitingLine {
    private final long number;
    private final long since;
    private final boolean isError;
    private final String key;
    private final byte[] text;
    private final boolean endsBar;
    private final SortedSet<Integer> ranks = new TreeSet<>();

    /**
     * @param key the same for lines that are alike
     */
    WaitingLine(
        long number, long since, boolean isError, String key, byte[] text, boolean endsBar) {
      this.number = number;
      this.since = since;
      this.isError = isError;
      this.key = key;
      this.text = text;
      this.endsBar = endsBar;
    }
  }

  /**
   * Starts it.
   *
   * @param patience how long a line waits for others that print it, too; none: every line is
   *     written when it comes, also those that are alike
   */
  public ScreenOutput(
      CommandConsole console, Labels labels, Duration patience, Clock clock, Ticker ticker) {
    this.console = console;
    this.labels = labels;
    this.patience = patience;
    this.clock = clock;
    this.pump = new OutputPump(console);
    this.events = new PrefixedLines(pump, labels);
    this.ticking = ticker.start(this::tick);
  }

  @Override
  public boolean isScreen() {
    return true;
  }

  @Override
  public void line(int node, int rank, boolean error, byte[] text) {
    synchronized (lock) {
      boolean endsBar = rewriters.remove(stream(rank, error));
      String exact = new String(text, StandardCharsets.ISO_8859_1);
      // Bars of ranks that do the same end with other numbers.
      String key = endsBar ? exact.replaceAll("[0-9][0-9.,:]*", "0") : exact;
      long now = clock.nanos();
      if (!isJoined(rank, error, key)) {
        var fresh = new WaitingLine(count++, now, error, key, text, endsBar);
        fresh.ranks.add(rank);
        held.add(fresh);
        byText.computeIfAbsent(key, _ -> new ArrayDeque<>()).add(fresh);
        lastOf.put(rank, fresh.number);
        heldBytes += text.length;
      }
      writeUntil(now);
    }
  }

  private static int stream(int rank, boolean isError) {
    return 2 * rank + (isError ? 1 : 0);
  }

  /** Whether other ranks have printed it already. */
  private boolean isJoined(int rank, boolean isError, String key) {
    long after = lastOf.getOrDefault(rank, -1L);
    for (WaitingLine each : byText.getOrDefault(key, new ArrayDeque<>())) {
      // An earlier one would change the order of this rank's lines.
      if (each.number > after && rank >= 0 && each.isError == isError) {
        each.ranks.add(rank);
        lastOf.put(rank, each.number);
        return true;
      }
    }
    return false;
  }

  /** Writes those at the front that have waited long enough. */
  private void writeUntil(long now) {
    while (!held.isEmpty()) {
      WaitingLine first = held.getFirst();
      boolean isDue =
          first.ranks.size() >= labels.shown()
              || first.ranks.first() < 0
              || now - first.since >= patience.toNanos()
              || held.size() > MOST_LINES
              || heldBytes > MOST_BYTES;
      if (!isDue) {
        return;
      }
      writeFirst();
    }
  }

  /** It stays when it cannot be written: a thread that was stopped leaves it to the others. */
  private void writeFirst() {
    WaitingLine line = held.getFirst();
    if (line.endsBar && line.ranks.contains(barRank)) {
      bar = "";
      draw();
    }
    byte[] label = console.look().dim(labels.of(line.ranks)).getBytes(StandardCharsets.UTF_8);
    pump.write(line.isError, label, TerminalText.of(line.text));
    held.remove();
    heldBytes -= line.text.length;
    ArrayDeque<WaitingLine> alike = byText.getOrDefault(line.key, new ArrayDeque<>());
    alike.remove(line);
    if (alike.isEmpty()) {
      byText.remove(line.key);
    }
  }

  @Override
  public void rewriting(int node, int rank, boolean error, byte[] text) {
    synchronized (lock) {
      rewriters.add(stream(rank, error));
      long now = clock.nanos();
      boolean isFree = bar.isEmpty() || now - barMoved > OWNED.toNanos();
      if (isFree || rank <= barRank) {
        String plain = TerminalText.plain(text).stripTrailing();
        barRank = rank;
        barMoved = now;
        bar = plain.isEmpty() ? "" : labels.of(new TreeSet<>(Set.of(rank))) + plain;
      }
    }
  }

  @Override
  public void event(int node, String text) {
    synchronized (lock) {
      writeAll();
      events.event(node, text);
    }
  }

  private void writeAll() {
    while (!held.isEmpty()) {
      writeFirst();
    }
  }

  private void tick() {
    synchronized (lock) {
      if (!closed) {
        writeUntil(clock.nanos());
        draw();
      }
    }
  }

  private void draw() {
    if (console.look().progress() && !bar.equals(drawn)) {
      console.progress(bar);
      drawn = bar;
    }
  }

  @Override
  public void close() {
    synchronized (lock) {
      try {
        if (!closed) {
          writeAll();
        }
      } catch (ReaderGone gone) {
        // line() reports it to its caller.
      }
      closed = true;
      bar = "";
      draw();
    }
    ticking.close();
    pump.close();
  }
}
