package dev.gpush.shell.command.place;

import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.run.Runs.Pictures;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.Clock;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.PictureChanges;
import dev.gpush.shell.render.PictureText;
import dev.gpush.shell.render.SyncText;
import dev.gpush.shell.text.EventFold;
import dev.gpush.shell.text.LastSeen;
import dev.gpush.shell.text.Symbols;
import dev.gpush.shell.text.VerbWords;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * What the loop shows while it waits for a line: goes on for as long as the shell lives, and prints
 * lines of a word and a text: {@code prompt}, {@code status}, {@code event}, and {@code needs}, the
 * command that does what the prompt asks of the user, and {@code seen}, which the loop gives to the
 * next gateway, so that what has happened between the two is said. After each change all but events
 * are printed, also unchanged, because the loop may have shown something else meanwhile. So that it
 * can mark wrong words in a line, it gets each {@code verb} once, and {@code sessions}: the one of
 * the prompt, then each with the number of its nodes.
 */
@Command(name = "__watch", header = "Print what changes")
public final class WatchCommand implements Action {
  /** Many changes within it are one. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** What repeats is said once in this time. */
  private static final Duration SPACING = Duration.ofSeconds(10);

  /** Nothing tells when the kernel's last event of a file turns out to be nobody's. */
  private static final Duration SETTLING = Duration.ofMillis(500);

  private final Supplier<List<VerbWords>> verbs;

  @Parameters(arity = "0..*", paramLabel = "SEEN", description = "what an earlier gateway showed")
  private List<String> seen = List.of();

  public WatchCommand(Supplier<List<VerbWords>> verbs) {
    this.verbs = verbs;
  }

  @Override
  public int run(Call call) throws InterruptedException {
    call.invocation().onlyWatches();
    Clock clock = call.services().timing().clock();
    Pictures pictures = call.services().runs().pictures();
    var events = new EventFold(SPACING);
    boolean areShown = Symbols.areShown(call.environment());
    LastSeen last = LastSeen.parse(seen);
    boolean isFirst = true;
    boolean hasFollowed = false;
    while (true) {
      long seen = pictures.changes().count();
      boolean isFollowing = call.toldShells().isFollowing(call.environment());
      Picture now = pictures.of(call.named(), call.folder());
      add(last, now, hasFollowed, call, events);
      now.session()
          .filter(session -> session.state() != SessionState.QUEUED)
          .ifPresent(session -> events.forget(PictureChanges.keyOfQueue(session)));
      last = last.after(now);
      hasFollowed = isFollowing;
      var text = new PictureText(now, clock.now());
      var lines = new StringBuilder();
      lines.append("sessions\t").append(sessions(call, now)).append('\n');
      lines.append("prompt\t").append(text.prompt()).append('\n');
      lines.append("status\t").append(text.status()).append('\n');
      lines.append("needs\t").append(needed(now)).append('\n');
      events
          .due(clock.nanos())
          .forEach(event -> lines.append("event\t").append(event.line()).append('\n'));
      lines.append("seen\t").append(last.line()).append('\n');
      call.print(areShown ? lines.toString() : Symbols.inWords(lines.toString()));
      if (isFirst) {
        isFirst = false;
        verbs.get().forEach(verb -> call.print("verb\t" + verb.line() + "\n"));
      }
      Duration next = isSettling(now) ? SETTLING : text.untilNext();
      Duration due = events.next(clock.nanos()).orElse(next);
      pictures.changes().await(seen, PAUSE, due.compareTo(next) < 0 ? due : next);
    }
  }

  /** Also of requests that failed, which {@code why} explains. */
  private static String sessions(Call call, Picture now) {
    var text = new StringBuilder();
    now.session().ifPresent(session -> text.append(session.name().text()));
    call.services()
        .sessions()
        .ended()
        .forEach(request -> text.append(' ').append(request.session()).append("=0"));
    now.sizes().forEach((name, size) -> text.append(' ').append(name).append('=').append(size));
    return text.toString();
  }

  /** Empty when it asks for nothing. */
  private static String needed(Picture now) {
    return now.session()
        .flatMap(session -> session.status().needsLogin())
        .map(name -> "login " + name)
        .orElse("");
  }

  private static boolean isSettling(Picture now) {
    return now.session()
        .map(SessionView::sync)
        .filter(sync -> sync.mode() == SyncView.Mode.LIVE && !sync.isSynced())
        .map(sync -> sync.pending().isEmpty() && sync.held().isEmpty())
        .orElse(false);
  }

  /**
   * @param hasFollowed its command has followed a run since the last look: what a command has said
   *     meanwhile was another shell's
   */
  private static void add(
      LastSeen last, Picture now, boolean hasFollowed, Call call, EventFold events) {
    PictureChanges.between(last, now, SyncText.time(call.zone())).stream()
        .filter(event -> !call.toldShells().isFollowing(call.environment(), event.key()))
        .map(event -> hasFollowed ? event.ofAnother() : event)
        .forEach(events::add);
  }
}
