package dev.gpush.shell.command;

import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import java.util.List;
import picocli.CommandLine.Command;

/**
 * Completes a command line: the words after gpush, the last one partial or empty. One candidate a
 * line, with its description after a tab; {@code :files} where a file name is meant.
 */
@Command(name = "__complete", header = "List what could come next")
final class CompleteCommand implements Action.OfWords {
  private final Verbs verbs;
  private List<String> words = List.of();

  CompleteCommand(Verbs verbs) {
    this.verbs = verbs;
  }

  @Override
  public void words(List<String> given) {
    words = List.copyOf(given);
  }

  @Override
  public int run(Call call) {
    var text = new StringBuilder();
    for (Completion.Candidate candidate : Completion.of(verbs, call, words)) {
      text.append(candidate.word());
      if (!candidate.about().isEmpty()) {
        text.append('\t').append(candidate.about());
      }
      text.append('\n');
    }
    call.print(text.toString());
    return 0;
  }
}
