package dev.gpush.shell.command.place;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.PictureText;
import dev.gpush.shell.render.SessionText;
import dev.gpush.shell.text.Symbols;
import java.util.List;
import picocli.CommandLine.Command;

/** The prompt of the loop: one line, no colour. */
@Command(name = "__prompt", header = "Print the prompt")
public final class PromptCommand implements Action {
  @Override
  public int run(Call call) {
    String prompt = prompt(call);
    call.console().out(Symbols.areShown(call.environment()) ? prompt : Symbols.inWords(prompt));
    return 0;
  }

  private static String prompt(Call call) {
    try {
      SessionView session = call.silently();
      return SessionText.prompt(session, runs(call, session));
    } catch (GpushException noSession) {
      return PictureText.PLAIN_PROMPT;
    }
  }

  private static List<RunView> runs(Call call, SessionView session) {
    if (session.runsInProgress() == 0) {
      return List.of();
    }
    try {
      return call.services().runs().list(session.name()).stream()
          .filter(run -> !run.isOver())
          .toList();
    } catch (GpushException outOfReach) {
      return List.of();
    }
  }
}
