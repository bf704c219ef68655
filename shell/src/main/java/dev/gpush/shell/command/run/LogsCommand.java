package dev.gpush.shell.command.run;

import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.task.Work;
import dev.gpush.core.text.Phrase;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Detach;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.console.RunPrinter;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.PictureChanges;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "logs",
    header = "Show the output of a run, from its beginning",
    description = {
      "Without a number: of the newest run. On a terminal a line that several ranks print alike is"
          + " shown once, with who printed it. With -f it continues until the run ends; Ctrl-C then"
          + " does not stop the run. The exit status is the run's once it has ended, 0 while it is"
          + " in progress, or 255 if gpush itself fails. Of a run that failed, the first line"
          + " says which rank failed first, where and why. A traceback that several ranks had is"
          + " shown once; what torchrun and accelerate say themselves of ranks that failed is"
          + " shown with --launcher."
    },
    footer = {"$ gpush logs -f 7", "[0] step 10 loss 3.1", "[1] step 10 loss 3.2"})
public final class LogsCommand implements Action {
  /** As a rank: the launcher. */
  private static final int FROM_LAUNCHER = -1;

  private static final DateTimeFormatter STARTED =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  @Parameters(paramLabel = "RUN", arity = "0..1", description = "its number")
  Optional<String> number;

  @Option(
      names = {"-f", "--follow"},
      description = "until the run ends")
  boolean follow;

  @Option(
      names = {"--rank", "--ranks"},
      paramLabel = "RANKS",
      description = "only these: 0,1 or 0-3")
  Optional<String> ranks;

  @Option(names = "--all-ranks", description = "every rank's lines on a terminal, alike or not")
  boolean allRanks;

  @Option(names = "--since", paramLabel = "TIME", description = "only the last 10m, 90s, 2h")
  Optional<String> since;

  @Option(names = "--launcher", description = "only what torchrun or accelerate say themselves")
  boolean launcher;

  @Option(names = "--fetch", description = "write all output into files, one for each rank")
  boolean fetch;

  @Override
  public int run(Call call) throws InterruptedException {
    if (fetch && (follow || launcher || ranks.or(() -> since).isPresent())) {
      throw Values.bad("logs", "--fetch brings all output that is there, of all ranks");
    }
    if (launcher && ranks.isPresent()) {
      throw Values.bad("logs", "--launcher and --rank cannot be used together");
    }
    Set<Integer> shown = launcher ? Set.of(FROM_LAUNCHER) : Values.numbers("--rank", ranks);
    var asked = new LogRequest(shown, follow, Values.time("--since", since));
    SessionView session = call.session();
    RunView run = RunNumbers.find(call, session.name(), number);
    if (!call.common().json) {
      Verdict.write(call, run);
    }
    if (fetch) {
      return fetch(call, session, run);
    }
    var detach = new Detach();
    Optional<Integer> status = show(call, run, asked, detach);
    if (detach.isLeft()) {
      Detach.say(call, run.number());
      return ExitStatus.LEFT.number();
    }
    if (!call.common().json && run.failure().isEmpty()) {
      Verdict.write(call, session.name(), run.number());
    }
    if (call.common().json) {
      call.printLine(
          Documents.end(call.services().runs().find(session.name(), Optional.of(run.number()))));
    }
    if (follow && status.isEmpty()) {
      throw new GpushException(new LaunchFailure.Lost(run.number(), 0));
    }
    return status.orElse(0);
  }

  private int fetch(Call call, SessionView session, RunView run) throws InterruptedException {
    Path logs = session.root().resolve(".gpush").resolve("logs");
    // A later session of this name counts its runs from 1 again.
    String started = STARTED.format(run.started());
    Path folder = logs.resolve(session.name() + "-" + run.number() + "-" + started);
    long bytes = call.services().runs().fetch(session.name(), run.number(), folder, call.talk());
    if (call.common().json) {
      call.print(Documents.fetched(run, folder, bytes));
    }
    call.say(
        "fetched "
            + Phrase.size(bytes)
            + " of output of run "
            + run.number()
            + " into "
            + call.shortened(folder));
    return 0;
  }

  private Optional<Integer> show(Call call, RunView run, LogRequest asked, Detach detach)
      throws InterruptedException {
    SessionName session = SessionName.parse(run.session());
    var choice =
        new OutputChoice(launcher ? Set.of() : asked.ranks(), allRanks, call.common().json);
    try (var following =
            call.toldShells().follow(call.environment(), PictureChanges.keyOfEnd(run));
        RunPrinter printer = choice.open(call, run)) {
      Work<Optional<Integer>, RuntimeException> work =
          () -> call.services().runs().follow(session, run.number(), asked, printer);
      boolean isEndless = asked.follow() && !run.isOver();
      Optional<Integer> status = isEndless ? detach.follow(call, work) : work.run();
      if (asked.follow() && !detach.isLeft()) {
        following.ended();
      }
      return status;
    }
  }
}
