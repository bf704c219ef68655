package dev.gpush.shell.command;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.text.Nearest;
import dev.gpush.core.text.Worded;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "help",
    header = "List the commands, or explain one",
    description = {
      "slurm, kubernetes and skypilot show what you type there and what you type here; ide and nccl"
          + " are about editors and about the network of ranks; agents is a skill for coding"
          + " agents, to be saved as SKILL.md."
    },
    footer = {"$ gpush help version", "Show which gpush this is", "", "  gpush version [OPTIONS]"})
final class HelpCommand implements Action {
  private final Verbs verbs;

  @Parameters(
      paramLabel = "TOPIC",
      arity = "0..1",
      description = "a command, or slurm, kubernetes, skypilot, ide, nccl, agents")
  Optional<String> topic;

  @Option(
      names = "--man",
      paramLabel = "FOLDER",
      description =
          "write a manual page for each command to this folder, such as"
              + " ~/.local/share/man/man1")
  Optional<String> man = Optional.empty();

  HelpCommand(Verbs verbs) {
    this.verbs = verbs;
  }

  @Override
  public boolean hasJson() {
    return false;
  }

  @Override
  public int run(Call call) {
    if (man.isPresent()) {
      writePages(call, man.get());
      return 0;
    }
    call.print(topic.map(this::of).orElseGet(HelpScreen::text));
    return 0;
  }

  private void writePages(Call call, String folder) {
    if (topic.isPresent()) {
      throw Values.bad("help", "--man writes all pages, and takes no topic");
    }
    try {
      PackageFiles.write(call.folder().resolve(folder), ManPages.all());
    } catch (IOException failed) {
      String rule = "a folder that can be written: " + FileReason.of(failed);
      throw new GpushException(new UsageFailure.BadValue("--man", folder, rule), failed);
    }
    call.say("wrote " + ManPages.all().size() + " manual pages to " + folder);
  }

  private String of(String word) {
    return verbs
        .make(word)
        .map(action -> new CommandHelp(word, action).text())
        .or(() -> Worded.of(HelpTopic.class, word).map(HelpTopic::text))
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
