package dev.gpush.shell.loop;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.run.Runs.Pictures;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.ViewChange;
import dev.gpush.shell.loop.GoldenFile.Window;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** A shell in a window, with gpush's own commands and renderers behind it. */
final class ShellScene implements AutoCloseable {
  final Desk desk = new Desk();
  final DeskRunner runner = new DeskRunner(desk);
  private final ShellScreen screen;
  private final Window window;
  private final GoldenFile golden;
  private final Changing pictures = new Changing();

  /**
   * @param home for the history
   * @param session there is from the beginning; empty: none
   */
  ShellScene(String name, Window window, Path home, Optional<SessionView> session)
      throws IOException, InterruptedException {
    this.window = window;
    this.golden = new GoldenFile(name, window);
    session.ifPresent(this::becomes);
    desk.runs.changing = Optional.of(pictures);
    this.screen = new ShellScreen(runner::in, window.origin(home), window.size());
    runner.awaitHeard("prompt\t");
    screen.awaitLook(look -> look.contains("> ▮"));
  }

  /** Two nodes of H100, for five hours; all have the last save. */
  static SessionView session() {
    SessionView bare =
        new Desk().sessions.add("devbox", Desk.PROJECT, 2, new GpuRequest(Optional.of("H100"), 8));
    return new ViewChange(bare)
        .on("hpc")
        .hardEnd(Optional.of(Duration.ofMinutes(312)))
        .generation(Optional.of(42L))
        .sync(synced(2))
        .view();
  }

  static SyncView synced(int nodes) {
    return new SyncView(
        SyncView.Mode.LIVE,
        true,
        Optional.of(42L),
        IntStream.range(0, nodes)
            .mapToObj(node -> new SyncView.Node(node, Optional.of(42L), ""))
            .toList(),
        0,
        List.of(),
        SyncView.Incoming.NONE,
        List.of(),
        List.of(),
        "",
        new SyncView.Versions(List.of(), List.of()),
        "");
  }

  /** From now on the gateway knows this. */
  void becomes(SessionView session, RunView... runs) {
    desk.sessions.change(session);
    watchSees(session, runs);
  }

  /** The shell's watch sees this, which a command is about to make. */
  void watchSees(SessionView session, RunView... runs) {
    var sizes = Map.of(session.name().text(), session.nodes().size());
    pictures.becomes(
        new Picture(Optional.of(session), List.of(runs), Came.nothing(), List.of(), sizes));
  }

  void type(String keys) throws IOException {
    screen.type(keys);
  }

  /** Waits until a user sees what the file says, which is awaited by these while it is written. */
  void sees(String what, String... parts) throws InterruptedException {
    String expected = golden.next(what);
    Predicate<String> isThere =
        golden.isWritten()
            ? look -> List.of(parts).stream().allMatch(look::contains)
            : expected::equals;
    if (golden.isWritten()) {
      screen.awaitLook(isThere);
      screen.awaitQuiet();
      golden.sees(what, expected, screen.awaitLook(isThere));
    } else {
      golden.sees(what, expected, screen.lastLook(isThere));
    }
  }

  /** What is around the cursor when a line can be typed, behind its end. */
  String line(String end) {
    return end + (window.isPlain() ? "▮" : "▮\ndevbox on");
  }

  /** Waits until the shell's watch has this, and a prompt that comes late has it too. */
  void awaitHeard(String text) throws InterruptedException {
    runner.awaitHeard(text);
  }

  /** A user has seen all that the file says. */
  void ends() throws IOException {
    golden.ends();
  }

  @Override
  public void close() throws IOException {
    screen.close();
  }

  private static final class Changing implements Pictures {
    private final ChangeSignal changes = new ChangeSignal();
    private volatile Picture now =
        new Picture(Optional.empty(), List.of(), Came.nothing(), List.of());

    void becomes(Picture next) {
      now = next;
      changes.signal();
    }

    @Override
    public ChangeSignal changes() {
      return changes;
    }

    @Override
    public Picture of(Optional<String> name, Path folder) {
      return now;
    }
  }
}
