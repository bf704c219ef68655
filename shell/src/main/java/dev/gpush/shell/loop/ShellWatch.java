package dev.gpush.shell.loop;

import dev.gpush.core.task.ChangeSignal;
import dev.gpush.core.task.Clock;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.render.PictureText;
import dev.gpush.shell.text.EventFold;
import dev.gpush.shell.text.ShellEvent;
import dev.gpush.shell.text.VerbWords;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * What the gateway says while a line is edited. One thread listens for as long as the shell lives,
 * over one connection after the other; it starts no gateway. What comes while a command has the
 * terminal is kept, folded, until the next line is edited. Thread-safe.
 */
final class ShellWatch {
  private static final String WATCH = "__watch";

  /** Commands that say themselves what becomes of the session. */
  private static final Set<String> SAYING = Set.of("up", "run", "sync", "stop", "down", "adopt");

  /** What changes nothing that is shown before the next key. */
  private static final Set<String> SILENT = Set.of("needs", "seen", "sessions", "verb");

  private static final String ENDED =
      "the gateway has ended; sessions and runs go on, and the next command starts it again";

  /** A gateway that is replaced is there again by then. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  /** Between two quiet looks for a gateway that another terminal may have started. */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  /** What a command has said itself may come this late. */
  private static final Duration AFTER_COMMAND = Duration.ofSeconds(1);

  private final CommandRunner runner;
  private final Loop.Manner manner;
  private final Screen screen;
  private final Clock clock;
  private final ChangeSignal wakes = new ChangeSignal();

  // guarded by this
  private final EventFold waiting = new EventFold(Duration.ZERO);
  private String prompt = PictureText.PLAIN_PROMPT;
  private String status = "";
  private String needs = "";
  private String seen = "";
  private KnownWords known = KnownWords.NONE;
  private boolean isNew;
  private boolean isBusy;
  private String verb = "";
  private final Map<String, Long> doneAt = new HashMap<>();
  private boolean isThere;
  private boolean isLost;

  /** Where it is shown at once. */
  interface Screen {
    /** If a line is edited now, asks what is new and draws it; an empty prompt stays as it is. */
    void show(Supplier<LiveReader.Around> news);
  }

  ShellWatch(CommandRunner runner, Loop.Manner manner, Screen screen, Clock clock) {
    this.runner = runner;
    this.manner = manner;
    this.screen = screen;
    this.clock = clock;
  }

  /** Listens until it is interrupted. */
  void run() throws InterruptedException {
    Duration pause = FIRST_PAUSE;
    while (true) {
      long seen = wakes.count();
      long begun = clock.nanos();
      runner.follow(words(), this::hear);
      noteEnd();
      if (clock.nanos() - begun > LONGEST_PAUSE.toNanos()) {
        pause = FIRST_PAUSE;
      }
      show();
      wakes.await(seen, Duration.ZERO, pause);
      pause = pause.multipliedBy(2);
      pause = pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }
  }

  /** The gateway says what has happened since another one showed this. */
  private synchronized List<String> words() {
    return seen.isEmpty() ? List.of(WATCH) : List.of((WATCH + " " + seen).split(" "));
  }

  /** A connection has ended, or there was none. */
  private synchronized void noteEnd() {
    if (isThere) {
      isThere = false;
      // Without a session it does not matter, and gateway stop says it itself.
      isLost = !status.isEmpty() && !isOf(Set.of("gateway"));
      prompt = PictureText.PLAIN_PROMPT;
      status = "";
      needs = "";
      known = KnownWords.NONE;
      isNew = true;
    } else if (isLost) {
      isLost = false;
      waiting.add(ShellEvent.of("gateway", ENDED));
    }
  }

  private void hear(String line) {
    int tab = line.indexOf('\t');
    if (tab > 0) {
      String word = line.substring(0, tab);
      hear(word, line.substring(tab + 1));
      if (!SILENT.contains(word)) {
        show();
      }
    }
  }

  private synchronized void hear(String word, String text) {
    isThere = true;
    if (isLost) {
      isLost = false;
      waiting.add(ShellEvent.of("gateway", "the gateway was started again"));
    }
    switch (word) {
      case "prompt" -> {
        prompt = Clean.line(text);
        isNew = true;
      }
      case "status" -> status = Clean.line(text);
      case "needs" -> needs = Clean.line(text);
      case "seen" -> seen = Clean.line(text);
      case "verb" -> VerbWords.parse(text).ifPresent(each -> known = known.with(each));
      case "sessions" -> known = known.withSessions(text);
      case "event" -> ShellEvent.parse(text).filter(this::isNews).ifPresent(waiting::add);
      default -> {} // Of a newer gateway.
    }
  }

  // guarded by this
  private boolean isNews(ShellEvent event) {
    return !event.isSaid() || !isOf(SAYING);
  }

  /** One of these commands has the terminal, or had it a moment ago. */
  // guarded by this
  private boolean isOf(Set<String> verbs) {
    long now = clock.nanos();
    doneAt.values().removeIf(at -> now - at >= AFTER_COMMAND.toNanos());
    return (isBusy && verbs.contains(verb)) || !Collections.disjoint(doneAt.keySet(), verbs);
  }

  /** Shows what is new, if a line is edited and can be drawn around. */
  void show() {
    if (manner != Loop.Manner.PLAIN) {
      screen.show(this::news);
    }
  }

  private synchronized LiveReader.Around news() {
    return new LiveReader.Around(isNew ? prompt : "", isBusy ? List.of() : take(), status);
  }

  /** The next line is about to be edited, and its prompt is asked for: what comes now is newer. */
  synchronized void asks() {
    isNew = false;
  }

  /** The newest prompt that it knows. */
  synchronized String prompt() {
    return prompt;
  }

  /** The words of the command that does what its prompt asks of the user; empty: nothing. */
  synchronized List<String> needs() {
    return needs.isEmpty() ? List.of() : List.of(needs.split(" "));
  }

  /** What was asked of the user is done, though the gateway may not have said so yet. */
  synchronized void hasDone(List<String> words) {
    if (words.equals(needs())) {
      needs = "";
    }
  }

  /** The words that a line may have; none until the gateway has sent them. */
  synchronized KnownWords known() {
    return known;
  }

  /** Takes what has come while no line was edited. */
  synchronized List<String> take() {
    return waiting.due(clock.nanos()).stream().map(ShellEvent::shown).toList();
  }

  /**
   * A command has the terminal now.
   *
   * @param named its first word; empty when it is not gpush's
   */
  synchronized void begins(String named) {
    isBusy = true;
    verb = named;
  }

  /** The command has ended: it may have started a gateway. */
  void ended() {
    synchronized (this) {
      isBusy = false;
      doneAt.put(verb, clock.nanos());
    }
    wakes.signal();
  }
}
