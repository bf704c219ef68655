package dev.gpush.shell.command.reach;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure.Program;
import dev.gpush.core.failure.UsageFailure.UnknownCommand;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.task.Tasks;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/**
 * A word that is no command. In the interactive shell it may be a program: on node 0, if that
 * answers at once, or here.
 */
public final class UnknownWord implements Action {
  private final String word;
  private final List<String> nearest;

  /**
   * @param nearest the commands that may be meant
   */
  public UnknownWord(String word, List<String> nearest) {
    this.word = word;
    this.nearest = List.copyOf(nearest);
  }

  @Override
  public int run(Call call) throws InterruptedException {
    throw new GpushException(new UnknownCommand(word, nearest, program(call)));
  }

  private Program program(Call call) throws InterruptedException {
    if (!call.isInShell() || word.startsWith("-")) {
      return Program.NONE;
    }
    if (isOnNode(call)) {
      return Program.NODE_0;
    }
    boolean isHere = word.indexOf('/') < 0 && Programs.find(call, word).isPresent();
    return isHere ? Program.HERE : Program.NONE;
  }

  private boolean isOnNode(Call call) throws InterruptedException {
    try (Tasks tasks = Tasks.named("word", (_, bug) -> report(call, bug))) {
      return tasks.within(call.services().timing().programLimit(), "ask", () -> ask(call));
    } catch (TimeoutException | GpushException noAnswer) {
      return false;
    }
  }

  private boolean ask(Call call) throws InterruptedException {
    SessionView session = call.silently();
    if (session.state() != SessionState.READY) {
      return false;
    }
    var words = List.of("/bin/sh", "-c", "command -v -- \"$1\"", "sh", word);
    var answer = new NodeAnswer(call.invocation());
    return call.services().runs().exec(session.name(), 0, words, false, Map.of(), answer) == 0;
  }

  private static void report(Call call, Throwable bug) {
    call.services().gateway().bugs().report("word", bug);
  }
}
