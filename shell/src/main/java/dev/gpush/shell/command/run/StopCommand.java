package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Previews;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "stop",
    header = "Stop a run",
    description = {
      "Interrupts all ranks, as Ctrl-C does, and kills what is left after 10 seconds. The session"
          + " stays; gpush down gives it back. Without a number: the one run in progress. If the"
          + " session waits in a queue, this cancels its request. gpush asks before it takes a"
          + " session of another folder that you did not name."
    },
    footer = {"$ gpush stop 7", "run 7 is stopped"})
public final class StopCommand implements Action {
  private static final Duration GRACE = Duration.ofSeconds(10);

  @Parameters(paramLabel = "RUN", arity = "0..1", description = "its number")
  Optional<String> number;

  @Option(names = "--kill", description = "kill the ranks at once")
  boolean kill;

  @Option(names = "--dry-run", description = "show what would be stopped and how; stop nothing")
  boolean dryRun;

  @Override
  public int run(Call call) throws InterruptedException {
    Optional<SessionView> named = sessionOfThatName(call);
    SessionView session =
        named.isPresent() ? named.get() : dryRun ? call.session() : sessionToEnd(call);
    if (named.isPresent() || number.isEmpty()) {
      if (dryRun && session.state().isWaiting()) {
        return look(call, session, Optional.empty());
      }
      if (!dryRun && givesUp(call, session)) {
        return 0;
      }
    }
    if (named.isPresent()) {
      throw isSession(session);
    }
    RunView run =
        number.isPresent() ? RunNumbers.find(call, session.name(), number) : theOne(call, session);
    if (dryRun) {
      return look(call, session, Optional.of(run));
    }
    if (run.isOver()) {
      return ended(call, session, run, " had ended already: ");
    }
    RunView ended =
        call.services()
            .runs()
            .stop(
                session.name(),
                run.number(),
                kill ? "KILL" : "INT",
                kill ? Duration.ZERO : GRACE,
                call.talk());
    return ended(call, session, ended, " is ");
  }

  /**
   * @param run empty: the request of a session that waits
   */
  private int look(Call call, SessionView session, Optional<RunView> run) {
    var stop = new Previews.Stop(run, kill, GRACE);
    if (call.common().json) {
      call.print(stop.json(session));
    } else {
      call.print(stop.line(session, call.now()) + "\n");
    }
    return 0;
  }

  private int ended(Call call, SessionView session, RunView run, String how) {
    if (call.common().json) {
      call.print(Documents.stopped(session, Optional.of(run)));
    }
    call.say("run " + run.number() + how + outcome(run));
    return 0;
  }

  private SessionView sessionToEnd(Call call) {
    String what = number.map(run -> "stop run " + run + " of").orElse("stop the run of");
    return call.sessionToEnd(Optional.empty(), what);
  }

  private static String outcome(RunView run) {
    return run.state().word() + run.exit().map(exit -> " (" + exit + ")").orElse("");
  }

  private Optional<SessionView> sessionOfThatName(Call call) {
    return number.flatMap(
        word ->
            call.services().sessions().list().stream()
                .filter(view -> view.name().text().equals(word))
                .findFirst());
  }

  /** For a session that still waits, cancels its request, because nothing runs yet. */
  private boolean givesUp(Call call, SessionView session) {
    boolean isGivenUp =
        session.state().isWaiting()
            && call.services().sessions().giveUp(session.name(), call.talk());
    if (isGivenUp) {
      if (call.common().json) {
        call.print(Documents.stopped(session, Optional.empty()));
      }
      call.say(session.name() + " is cancelled: it no longer waits for nodes");
    }
    return isGivenUp;
  }

  private static GpushException isSession(SessionView session) {
    return new GpushException(
        new UsageFailure.BadArguments(
            "stop",
            session.name()
                + " is a session, and gpush stop ends runs; gpush down gives a session back",
            List.of("down " + session.name())));
  }

  private static RunView theOne(Call call, SessionView session) {
    List<RunView> going =
        call.services().runs().list(session.name()).stream().filter(run -> !run.isOver()).toList();
    if (going.size() == 1) {
      return going.getFirst();
    }
    List<String> lines = going.stream().map(run -> "stop " + run.number()).toList();
    throw new GpushException(
        new UsageFailure.BadArguments(
            "stop",
            going.isEmpty()
                ? "nothing runs on " + session.name()
                : going.size() + " runs are in progress; give the number of one",
            going.isEmpty() ? List.of("runs") : lines));
  }
}
