package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.control.client.process.Origin;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.shell.command.call.ToldShells;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/**
 * Reads lines and has them carried out, until the input ends or the user types exit.
 *
 * <p>The terminal has one owner at a time: JLine while a line is edited, then the control client
 * until the command has ended. Between them only Ctrl-C could hit the process itself; it is ignored
 * there. The gateway may end at any moment: the prompt is then plain, and the next command starts
 * it again.
 */
public final class Loop {
  private static final String PLAIN_PROMPT = "gpush > ";

  /** This many lines are kept for a project. */
  private static final int HISTORY_LINES = 10_000;

  private final Terminal terminal;
  private final Carrier carrier;
  private final LocalFiles files;
  private final boolean colour;
  private final LineReader reader;

  Loop(
      Terminal terminal,
      Carrier carrier,
      LocalFiles files,
      Optional<Path> history,
      boolean colour) {
    this.terminal = terminal;
    this.carrier = carrier;
    this.files = files;
    this.colour = colour;
    this.reader =
        LineReaderBuilder.builder()
            .appName("gpush")
            .terminal(terminal)
            .parser(new LineParser())
            .completer(new GatewayCompleter(carrier, files))
            .variable(LineReader.SECONDARY_PROMPT_PATTERN, "> ")
            .variable(LineReader.HISTORY_SIZE, HISTORY_LINES)
            .variable(LineReader.HISTORY_FILE_SIZE, HISTORY_LINES)
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
            .option(LineReader.Option.HISTORY_TIMESTAMPED, false)
            .option(LineReader.Option.AUTO_FRESH_LINE, true)
            .build();
    history.ifPresent(file -> reader.setVariable(LineReader.HISTORY_FILE, file));
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
      boolean colour = origin.environment().getOrDefault("NO_COLOR", "").isEmpty();
      var carrier = new ControlCarrier(named(origin), terminal);
      return new Loop(terminal, carrier, files, history, colour).run();
    } catch (IOException noTerminal) {
      throw new IllegalStateException("the terminal cannot be used", noTerminal);
    }
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
    int status = ExitStatus.DONE.number();
    while (true) {
      String text;
      try {
        text = reader.readLine(prompt());
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
          case Line.Local(var command) -> status = carrier.local(command);
          case Line.Command(var words) -> status = carrier.run(words);
        }
        if (status == ExitStatus.INTERRUPTED.number()) {
          break; // Ctrl-C is meant for all lines of a paste.
        }
      }
    }
  }

  private String prompt() {
    Captured answer = carrier.ask(List.of("__prompt"));
    String line = answer.status() == 0 ? answer.out().stripTrailing() : "";
    if (line.isEmpty()) {
      return PLAIN_PROMPT;
    }
    return colour ? styled(line + " ").toAnsi(terminal) : line + " ";
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
