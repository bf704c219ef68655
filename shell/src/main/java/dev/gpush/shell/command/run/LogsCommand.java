package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.console.JsonLines;
import dev.gpush.shell.console.LineFormat;
import dev.gpush.shell.console.OutputPump;
import dev.gpush.shell.console.PrefixedLines;
import dev.gpush.shell.render.Documents;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "logs",
    header = "Show the output of a run, from its beginning",
    description = {
      "Without a number: of the newest run. With -f it continues until the run ends; Ctrl-C then"
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

  @Option(names = "--launcher", description = "only what torchrun or accelerate say themselves")
  boolean launcher;

  @Option(names = "--json", description = "each line as JSON, then how the run ended")
  boolean json;

  @Override
  public int run(Call call) throws InterruptedException {
    if (launcher && ranks.isPresent()) {
      throw Values.bad("logs", "--launcher shows what is no rank's, and --rank one rank's");
    }
    Set<Integer> shown = launcher ? Set.of(FROM_LAUNCHER) : Values.numbers("--rank", ranks);
    SessionView session = call.session();
    RunView run = RunNumbers.find(call, session.name(), number);
    if (!json) {
      Verdict.write(call, run);
    }
    Optional<Integer> status = show(call, session, run, shown);
    if (!json && run.failure().isEmpty()) {
      Verdict.write(call, session.name(), run.number());
    }
    if (json) {
      call.printLine(
          Documents.end(call.services().runs().find(session.name(), Optional.of(run.number()))));
    }
    if (follow && status.isEmpty()) {
      throw new GpushException(new LaunchFailure.Lost(run.number(), 0));
    }
    return status.orElse(0);
  }

  private Optional<Integer> show(Call call, SessionView session, RunView run, Set<Integer> shown)
      throws InterruptedException {
    LineFormat format = json ? new JsonLines() : new PrefixedLines();
    try (OutputPump pump = new OutputPump(call.console(), format)) {
      return call.services().runs().follow(session.name(), run.number(), shown, follow, pump);
    }
  }
}
