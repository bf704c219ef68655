package dev.gpush.shell.command;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.text.Nearest;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "help",
    header = "List the commands, or explain one",
    footer = {"$ gpush help version", "Show which gpush this is", "", "  gpush version [OPTIONS]"})
final class HelpCommand implements Action {
  private final Verbs verbs;

  @Parameters(paramLabel = "COMMAND", arity = "0..1", description = "the command")
  Optional<String> verb;

  HelpCommand(Verbs verbs) {
    this.verbs = verbs;
  }

  @Override
  public int run(Call call) {
    call.print(verb.isEmpty() ? HelpScreen.text() : of(verb.get()).text());
    return 0;
  }

  private CommandHelp of(String word) {
    return verbs
        .make(word)
        .map(action -> new CommandHelp(word, action))
        .orElseThrow(
            () -> {
              List<String> nearest =
                  Nearest.to(word, verbs.names()).stream().map(near -> "help " + near).toList();
              String rule =
                  "there is no command '"
                      + word
                      + "'"
                      + (nearest.isEmpty()
                          ? ""
                          : "; did you mean " + nearest.getFirst().substring(5) + "?");
              return new GpushException(
                  new UsageFailure.BadArguments(
                      "help", rule, nearest.isEmpty() ? List.of("help") : nearest));
            });
  }
}
