package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.control.client.process.Origin;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.shell.command.call.ToldShells;
import dev.gpush.shell.render.PictureText;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;
import org.jline.utils.InfoCmp;

/**
 * Reads lines and has them carried out, until the input ends or the user types exit.
 *
 * <p>The terminal has one owner at a time: JLine while a line is edited, then the control client
 * until the command has ended. While JLine has it, a {@link ShellWatch} moves the prompt and prints
 * what happens, above the line. Between them only Ctrl-C could hit the process itself; it is
 * ignored there. The gateway may end at any moment: the prompt is then plain, and the next command
 * starts it again.
 */
public final class Loop {
  /** This many lines are kept for a project. */
  private static final int HISTORY_LINES = 10_000;

  /** The prompt moves later, so nothing is waited for that a user would notice. */
  private static final Duration PROMPT_LIMIT = Duration.ofMillis(200);

  /** Variables that ask for a plain terminal. */
  private static final List<String> PLAIN = List.of("NO_COLOR", "GPUSH_PLAIN");

  private final Terminal terminal;
  private final Carrier carrier;
  private final LocalFiles files;
  private final Manner manner;
  private final LiveReader reader;
  private final ShellWatch watch;
  private volatile String shown = "";

  /** How it uses the terminal. */
  enum Manner {
    /** The prompt moves, with colours. */
    LIVE,
    /** Nothing that was written is written over: for screen readers and terminals that cannot. */
    PLAIN
  }

  Loop(
      Terminal terminal,
      Carrier carrier,
      LocalFiles files,
      Optional<Path> history,
      Manner manner,
      Clock clock) {
    this.terminal = terminal;
    this.carrier = carrier;
    this.files = files;
    this.manner = manner;
    this.watch = new ShellWatch(carrier, manner, this::show, clock);
    this.reader = new LiveReader(terminal, variables(history), watch::show);
    reader.setParser(new LineParser());
    reader.setCompleter(new GatewayCompleter(carrier, files));
    reader.option(LineReader.Option.DISABLE_EVENT_EXPANSION, true);
    reader.option(LineReader.Option.HISTORY_TIMESTAMPED, false);
    reader.option(LineReader.Option.AUTO_FRESH_LINE, true);
  }

  private static Map<String, Object> variables(Optional<Path> history) {
    var variables = new HashMap<String, Object>();
    variables.put(LineReader.SECONDARY_PROMPT_PATTERN, "> ");
    variables.put(LineReader.HISTORY_SIZE, HISTORY_LINES);
    variables.put(LineReader.HISTORY_FILE_SIZE, HISTORY_LINES);
    history.ifPresent(file -> variables.put(LineReader.HISTORY_FILE, file));
    return variables;
  }

  /** The shell of this process: its terminal, the gateway of its home. Returns the exit status. */
  public static int run(Origin origin) {
    // The system terminal sends no queries, whose answers would be read as keys.
    try (Terminal terminal =
        TerminalBuilder.builder().name("gpush").system(true).graphemeCluster(false).build()) {
      terminal.handle(Terminal.Signal.INT, Terminal.SignalHandler.SIG_IGN);
      String home = origin.environment().getOrDefault("HOME", "/");
      var files = new LocalFiles(origin.folder(), Path.of(home));
      Optional<Path> history = new History(origin.home()).file(origin.folder());
      Manner manner = manner(terminal.getType(), origin.environment());
      var carrier = new ControlCarrier(named(origin), terminal);
      return new Loop(terminal, carrier, files, history, manner, Clock.system()).run();
    } catch (IOException noTerminal) {
      throw new IllegalStateException("the terminal cannot be used", noTerminal);
    }
  }

  static Manner manner(String terminal, Map<String, String> environment) {
    boolean isPlain =
        terminal.startsWith(Terminal.TYPE_DUMB)
            || PLAIN.stream().anyMatch(name -> !environment.getOrDefault(name, "").isEmpty());
    return isPlain ? Manner.PLAIN : Manner.LIVE;
  }

  /** Lets the gateway tell a shell once what it would tell each command. */
  private static Origin named(Origin origin) {
    var environment = new HashMap<>(origin.environment());
    environment.put(ToldShells.VARIABLE, Long.toString(origin.pid()));
    return new Origin(
        origin.home(),
        origin.build(),
        origin.folder(),
        environment,
        origin.pid(),
        origin.gateway());
  }

  int run() {
    int woken = carrier.run(List.of("__wake"));
    if (woken != ExitStatus.DONE.number()) {
      return woken;
    }
    try (Tasks tasks = Tasks.named("shell", (_, bug) -> report(bug))) {
      tasks.startOnThread("watch", watch::run);
      return readLines(tasks);
    } finally {
      reader.leave();
    }
  }

  private int readLines(Tasks tasks) {
    int status = ExitStatus.DONE.number();
    while (true) {
      String text;
      try {
        text = reader.readLine(LiveReader.prompt(prompt(tasks)));
      } catch (UserInterruptException cleared) {
        continue;
      } catch (EndOfFileException over) {
        return status;
      }
      for (Line line : Line.all(text, files.home())) {
        switch (line) {
          case Line.Empty() -> {}
          case Line.Leave() -> {
            return status;
          }
          case Line.Clear() -> clear();
          case Line.Past() -> past();
          case Line.Local(var command) -> status = giving("", () -> carrier.local(command));
          case Line.Command(var words) ->
              status = giving(words.getFirst(), () -> carrier.run(words));
        }
        if (status == ExitStatus.INTERRUPTED.number()) {
          break; // Ctrl-C is meant for all lines of a paste.
        }
      }
    }
  }

  private void clear() {
    terminal.puts(InfoCmp.Capability.clear_screen);
    terminal.flush();
  }

  private void past() {
    reader
        .getHistory()
        .forEach(
            entry ->
                terminal.writer().println("%5d  %s".formatted(entry.index() + 1, entry.line())));
    terminal.flush();
  }

  /** Gives the terminal to a command. */
  private int giving(String verb, IntSupplier command) {
    watch.begins(verb);
    reader.leave();
    try {
      return command.getAsInt();
    } finally {
      watch.ended();
    }
  }

  /** An answer has the save of this moment, which the watch may not know yet. */
  private String prompt(Tasks tasks) {
    if (manner == Manner.PLAIN) {
      watch.take().forEach(event -> terminal.writer().println(event));
    }
    watch.asks();
    shown = decorated(answer(tasks).orElseGet(watch::prompt));
    return shown;
  }

  /** Empty when it does not come in time. */
  private Optional<String> answer(Tasks tasks) {
    if (manner == Manner.PLAIN) {
      return Optional.of(ask());
    }
    try {
      return Optional.of(tasks.within(PROMPT_LIMIT, "prompt", this::ask));
    } catch (TimeoutException late) {
      return Optional.empty();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private String ask() {
    return carrier
        .askIfRunning(List.of("__prompt"))
        .filter(answer -> answer.status() == ExitStatus.DONE.number())
        .map(Captured::out)
        .orElse("");
  }

  private String decorated(String answer) {
    String line = answer.isBlank() ? PictureText.PLAIN_PROMPT : answer;
    String text = line.stripTrailing() + " ";
    return manner == Manner.LIVE ? styled(text).toAnsi(terminal) : text;
  }

  /** On the thread of the watch, or on that of the reader when it begins a line. */
  private boolean show(String prompt, List<String> events, String status) {
    String text = prompt.isEmpty() ? shown : decorated(prompt);
    return reader.show(new LiveReader.Around(text, events, status));
  }

  private void report(Throwable bug) {
    terminal.writer().println("gpush: the prompt no longer changes by itself: " + bug);
  }

  /**
   * The name is bold; a tick is green, an end that is near is red. JLine drops colours that a
   * terminal lacks.
   */
  private static AttributedString styled(String prompt) {
    var styled = new AttributedStringBuilder();
    int name = prompt.indexOf(' ');
    styled.styled(AttributedStyle.BOLD, prompt.substring(0, name));
    for (String part : prompt.substring(name).split("(?=✓)|(?<= · )|(?= · )|(?=, )|(?= >)", -1)) {
      styled.styled(style(part), part);
    }
    return styled.toAttributedString();
  }

  private static AttributedStyle style(String part) {
    if (part.startsWith("✓")) {
      return AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN);
    }
    return part.endsWith("left!")
        ? AttributedStyle.DEFAULT.foreground(AttributedStyle.RED)
        : AttributedStyle.DEFAULT;
  }
}
