package dev.gpush.shell.command;

import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.render.OutputPump;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "logs",
    header = "Show the output of a run, from its beginning",
    description = {
      "Without a number: of the newest run. With -f it goes on until the run ends; Ctrl-C then"
          + " leaves the run alone."
    },
    footer = {"$ gpush logs -f 7", "[0] step 10 loss 3.1", "[1] step 10 loss 3.2"})
final class LogsCommand implements Action {
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

  @Override
  public int run(Call call) throws InterruptedException {
    Set<Integer> shown = Values.numbers("--rank", ranks);
    SessionView session = call.session();
    RunView run = RunNumbers.find(call, session.name(), number);
    try (OutputPump pump = new OutputPump(call.console())) {
      call.services().runs().follow(session.name(), run.number(), shown, follow, pump);
    }
    return 0;
  }
}
