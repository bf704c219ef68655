package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.control.client.ControlClient;
import dev.gpush.control.client.ProcessConsole;
import dev.gpush.control.place.Origin;
import dev.gpush.control.wire.Facts;
import dev.gpush.shell.text.LineStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jline.terminal.Terminal;

/** Uses the control socket and this process's terminal, which has no other reader meanwhile. */
final class ControlCommandRunner implements CommandRunner {
  /** Of what a shell is told, in bytes. */
  private static final int LONGEST_LINE = 64 * 1024;

  private final ControlClient client;
  private final Origin origin;
  private final Terminal terminal;

  ControlCommandRunner(Origin origin, Terminal terminal) {
    this.client = new ControlClient(origin);
    this.origin = origin;
    this.terminal = terminal;
  }

  @Override
  public int run(List<String> words) {
    return client.run(words, console());
  }

  @Override
  public Captured ask(List<String> words) {
    return client.capture(words);
  }

  @Override
  public Optional<Captured> askIfRunning(List<String> words) {
    return client.captureIfRunning(words);
  }

  @Override
  public void follow(List<String> words, Consumer<String> lines) {
    client.follow(words, new LineStream(LONGEST_LINE, lines));
  }

  @Override
  public int local(String line) {
    String shell = origin.environment().getOrDefault("SHELL", "/bin/sh");
    return console().spawn(List.of(shell, "-c", line), Map.of());
  }

  /** Made for each command, because the window may have another size. */
  private ProcessConsole console() {
    return ProcessConsole.continuing(
        Facts.of(
            Facts.Terminals.all(),
            terminal.getSize().getColumns(),
            terminal.getSize().getRows(),
            origin.environment()),
        origin);
  }
}
