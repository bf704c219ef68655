package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.control.place.Origin;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.Message;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.ToldShells;
import dev.gpush.shell.render.PictureText;
import dev.gpush.shell.text.Look;
import dev.gpush.shell.text.Prose;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
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
 *
 * <p>A loop is in one folder, as a command is: {@code cd} ends it, and another one begins there,
 * with its project's history, session and prompt.
 */
public final class Loop {
  /** This many lines are kept for a project. */
  private static final int HISTORY_LINES = 10_000;

  /** The prompt moves later, so nothing is waited for that a user would notice. */
  private static final Duration PROMPT_LIMIT = Duration.ofMillis(200);

  private final Terminal terminal;
  private final CommandRunner runner;
  private final LocalFiles files;
  private final Manner manner;
  private final LiveReader reader;
  private final ShellWatch watch;
  private volatile String shown = "";
  private List<String> asked = List.of();

  /** How it uses the terminal. */
  enum Manner {
    /** The prompt moves, with colours. */
    LIVE,
    /** Nothing that was written is written over: for screen readers and terminals that cannot. */
    PLAIN
  }

  /** Why it ended. */
  private sealed interface End {
    /** The user leaves the shell. */
    record Left(int status) implements End {}

    /**
     * The user changes to another folder.
     *
     * @param rest lines of the same paste
     */
    record Moved(Path folder, List<Line> rest) implements End {}
  }

  private Loop(
      Terminal terminal,
      CommandRunner runner,
      LocalFiles files,
      Optional<Path> history,
      Manner manner,
      Clock clock) {
    this.terminal = terminal;
    this.runner = runner;
    this.files = files;
    this.manner = manner;
    this.watch = new ShellWatch(runner, manner, this::show, clock);
    this.reader = new LiveReader(terminal, variables(history, manner), watch::show);
    reader.setParser(new LineParser());
    reader.setCompleter(new GatewayCompleter(runner, files));
    if (manner == Manner.LIVE) {
      reader.helps(watch::known);
    }
    reader.option(LineReader.Option.DISABLE_EVENT_EXPANSION, true);
    reader.option(LineReader.Option.HISTORY_TIMESTAMPED, false);
    reader.option(LineReader.Option.AUTO_FRESH_LINE, true);
  }

  private static Map<String, Object> variables(Optional<Path> history, Manner manner) {
    var variables = new HashMap<String, Object>();
    variables.put(LineReader.SECONDARY_PROMPT_PATTERN, "> ");
    variables.put(LineReader.HISTORY_SIZE, HISTORY_LINES);
    variables.put(LineReader.HISTORY_FILE_SIZE, HISTORY_LINES);
    history.ifPresent(file -> variables.put(LineReader.HISTORY_FILE, file));
    if (manner == Manner.PLAIN) {
      variables.put(LineReader.COMPLETION_STYLE_STARTING, "bold");
      variables.put(LineReader.COMPLETION_STYLE_LIST_STARTING, "bold");
    }
    return variables;
  }

  /** The shell of this process: its terminal, the gateway of its home. Returns the exit status. */
  public static int run(Origin origin) {
    try (Terminal terminal = terminal(origin.environment().getOrDefault("TERM", ""))) {
      terminal.handle(Terminal.Signal.INT, Terminal.SignalHandler.SIG_IGN);
      return run(
          named(origin), terminal, at -> new ControlCommandRunner(at, terminal), Clock.system());
    } catch (IOException noTerminal) {
      throw new IllegalStateException("the terminal cannot be used", noTerminal);
    }
  }

  /**
   * That of this process. What JLine would start two programs for is known: whether it is one, and
   * what the usual types can do. Its own queries are not sent: the answers would be read as keys.
   */
  private static Terminal terminal(String type) throws IOException {
    Optional.ofNullable(InfoCmp.getDefaultInfoCmp(type))
        .ifPresent(abilities -> InfoCmp.setLoadedInfoCmp(type, abilities));
    try {
      return builder().exec(false).dumb(false).build();
    } catch (IllegalStateException noLibrary) {
      return builder().build();
    }
  }

  private static TerminalBuilder builder() {
    return TerminalBuilder.builder().name("gpush").system(true).graphemeCluster(false);
  }

  /**
   * The shell on this terminal.
   *
   * @param runners carry out the lines of a folder
   */
  static int run(
      Origin origin, Terminal terminal, Function<Origin, CommandRunner> runners, Clock clock) {
    Map<String, String> environment = origin.environment();
    Path home = Path.of(environment.getOrDefault("HOME", "/"));
    Manner manner = manner(terminal.getType(), environment);
    var history = new History(origin.home());
    int woken = runners.apply(origin).run(List.of("__wake"));
    if (woken != ExitStatus.DONE.number()) {
      return woken;
    }
    Origin at = origin;
    List<Line> lines = List.of();
    while (true) {
      String previous = at.environment().getOrDefault("OLDPWD", "");
      var files = new LocalFiles(at.folder(), home, previous);
      Optional<Path> past = history.file(at.folder());
      var loop = new Loop(terminal, runners.apply(at), files, past, manner, clock);
      switch (loop.run(lines)) {
        case End.Left(var status) -> {
          return status;
        }
        case End.Moved(var folder, var rest) -> {
          at = at.in(folder);
          lines = rest;
        }
      }
    }
  }

  static Manner manner(String terminal, Map<String, String> environment) {
    boolean isPlain =
        terminal.startsWith(Terminal.TYPE_DUMB)
            || Look.isPlain(environment)
            || !environment.getOrDefault("NO_COLOR", "").isEmpty();
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

  private End run(List<Line> first) {
    try (Tasks tasks = Tasks.named("shell", (_, bug) -> report(bug))) {
      tasks.startOnThread("watch", watch::run);
      return readLines(tasks, first);
    }
  }

  private End readLines(Tasks tasks, List<Line> first) {
    int status = ExitStatus.DONE.number();
    List<Line> lines = first;
    while (true) {
      for (int i = 0; i < lines.size(); i++) {
        switch (lines.get(i)) {
          case Line.Empty() -> {}
          case Line.Leave() -> {
            return new End.Left(status);
          }
          case Line.Where() -> print(files.folder().toString());
          case Line.Change(var to) -> {
            Optional<Path> folder = changed(to);
            if (folder.isPresent()) {
              return new End.Moved(folder.get(), List.copyOf(lines.subList(i + 1, lines.size())));
            }
            status = ExitStatus.FAILED.number();
          }
          case Line.Refused(var message) -> {
            print(message.text().stripTrailing());
            status = ExitStatus.USAGE.number();
          }
          case Line.Clear() -> clear();
          case Line.Past() -> past();
          case Line.Local(var command) -> status = giving("", () -> runner.local(command));
          case Line.Command(var words) -> {
            status = giving(words.getFirst(), () -> runner.run(words));
            if (status == ExitStatus.DONE.number()) {
              watch.hasDone(words);
            }
          }
        }
        if (stopsPaste(lines.get(i), status)) {
          break;
        }
      }
      try {
        String text = reader.readLine(LiveReader.prompt(prompt(tasks)));
        lines = text.isEmpty() ? wanted() : Line.all(text, files.home());
      } catch (UserInterruptException cleared) {
        lines = List.of();
      } catch (EndOfFileException over) {
        return new End.Left(status);
      }
    }
  }

  /**
   * What an empty line does: what the prompt asks of the user, if anything. A paste is one text
   * with all its lines, except where the terminal cannot tell it from keys.
   */
  private List<Line> wanted() {
    List<String> words = manner == Manner.LIVE ? watch.needs() : asked;
    if (words.isEmpty() || terminal.getType().startsWith(Terminal.TYPE_DUMB)) {
      return List.of();
    }
    print(String.join(" ", words));
    return List.of(new Line.Command(words));
  }

  /**
   * Ctrl-C and Ctrl-Z are meant for all its lines, what follows a cd for that folder, and what
   * follows a line that was not run perhaps for what that was to do.
   */
  private static boolean stopsPaste(Line line, int status) {
    return switch (line) {
      case Line.Change _, Line.Refused _ -> true;
      case Line.Local _, Line.Command _ ->
          status == ExitStatus.INTERRUPTED.number() || status == ExitStatus.LEFT.number();
      default -> false;
    };
  }

  /** Empty when it cannot be changed, after saying why. */
  private Optional<Path> changed(List<String> to) {
    try {
      Path folder = files.changed(to);
      watch.take().forEach(this::printEvent);
      if (to.equals(List.of("-"))) {
        print(folder.toString());
      }
      return Optional.of(folder);
    } catch (IOException unusable) {
      String what = "cannot change to " + (to.isEmpty() ? files.home() : Clean.command(to));
      String because = FileReason.of(unusable);
      var look = new Look(false, false, 0, terminal.getColumns());
      Message message = Message.of(what, because, "!ls    # what is here");
      print(look.text(message).stripTrailing());
      return Optional.empty();
    }
  }

  private void print(String line) {
    terminal.writer().println(line);
    terminal.flush();
  }

  private void printEvent(String event) {
    Prose.lines("", event, terminal.getColumns()).forEach(this::print);
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
    try {
      return command.getAsInt();
    } finally {
      watch.ended();
    }
  }

  /** An answer has the save of this moment, which the watch may not know yet. */
  private String prompt(Tasks tasks) {
    if (manner == Manner.PLAIN) {
      watch.take().forEach(this::printEvent);
    }
    watch.asks();
    asked = watch.needs();
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
    return runner
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
  private void show(Supplier<LiveReader.Around> news) {
    reader.show(
        () -> {
          LiveReader.Around plain = news.get();
          String prompt = plain.prompt().isEmpty() ? shown : decorated(plain.prompt());
          return new LiveReader.Around(prompt, plain.above(), plain.below());
        });
  }

  private void report(Throwable bug) {
    print("gpush: the prompt no longer changes by itself: " + bug);
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
