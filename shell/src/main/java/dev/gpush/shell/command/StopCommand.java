package dev.gpush.shell.command;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
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
          + " stays; gpush down gives that back. Without a number: the one run in progress. A"
          + " session of another folder that was not named is asked about first."
    },
    footer = {"$ gpush stop 7", "run 7 is stopped"})
final class StopCommand implements Action {
  private static final Duration GRACE = Duration.ofSeconds(10);

  @Parameters(paramLabel = "RUN", arity = "0..1", description = "its number")
  Optional<String> number;

  @Option(names = "--kill", description = "at once, without asking the ranks")
  boolean kill;

  @Override
  public int run(Call call) throws InterruptedException {
    refuseSession(call);
    SessionView session =
        call.sessionToEnd(
            Optional.empty(),
            number.map(run -> "stop run " + run + " of").orElse("stop the run of"));
    RunView run =
        number.isPresent() ? RunNumbers.find(call, session.name(), number) : theOne(call, session);
    if (run.isOver()) {
      call.say("run " + run.number() + " had ended already: " + outcome(run));
      return 0;
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
    call.say("run " + ended.number() + " is " + outcome(ended));
    return 0;
  }

  private static String outcome(RunView run) {
    return run.state() + run.exit().map(exit -> " (" + exit + ")").orElse("");
  }

  private void refuseSession(Call call) {
    boolean session =
        number.isPresent()
            && call.services().sessions().list().stream()
                .anyMatch(view -> view.name().text().equals(number.get()));
    if (session) {
      throw new GpushException(
          new UsageFailure.BadArguments(
              "stop",
              number.get() + " is a session, and stop ends runs; down gives a session back",
              List.of("down " + number.get())));
    }
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
                : going.size() + " runs are in progress; say which",
            going.isEmpty() ? List.of("runs") : lines));
  }
}
