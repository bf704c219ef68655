package dev.gpush.shell.command;

import dev.gpush.control.server.Handler;
import dev.gpush.control.server.Invocation;
import dev.gpush.control.wire.Facts;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure.UnknownCommand;
import dev.gpush.core.text.Nearest;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.command.call.Services;
import dev.gpush.shell.command.call.ToldShells;
import dev.gpush.shell.command.reach.Programs;
import dev.gpush.shell.console.Asker;
import dev.gpush.shell.console.CommandConsole;
import dev.gpush.shell.console.ConsoleTalk;
import dev.gpush.shell.console.ReaderGone;
import dev.gpush.shell.text.Look;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Carries out command lines for the control server: finds the verb, parses, calls, and turns every
 * result into an exit status and, after a failure, a message.
 *
 * <p>run, logs, exec and ssh pass on the status of what they run, so for them every failure of
 * gpush itself is 255, usage and bugs included, as with ssh: 1 or 2 always comes from the script.
 *
 * <p>Called on the invocation's own thread, which is interrupted by a signal that no command
 * listens for, and when the client is gone.
 */
public final class ShellHandler implements Handler {
  private final Services services;
  private final Verbs verbs = new Verbs();
  private final ToldShells toldShells = new ToldShells();

  public ShellHandler(Services services) {
    this.services = services;
  }

  @Override
  public int handle(Invocation invocation) {
    List<String> words = verbFirst(invocation.arguments());
    Common common = new Common();
    CommandConsole console =
        new CommandConsole(invocation.out(), invocation.err(), look(invocation));
    Thread self = Thread.currentThread();
    try {
      return carryOut(invocation, console, common, words);
    } catch (GpushException known) {
      return self.isInterrupted()
          ? ExitStatus.INTERRUPTED.number()
          : tell(console, common, words, known);
    } catch (InterruptedException stop) {
      return ExitStatus.INTERRUPTED.number();
    } catch (ReaderGone gone) {
      return self.isInterrupted()
          ? ExitStatus.INTERRUPTED.number()
          : ExitStatus.FAILED.of(words).number();
    } catch (RuntimeException | Error bug) {
      if (self.isInterrupted() || !invocation.isConnected()) {
        return ExitStatus.INTERRUPTED.number();
      }
      return bug(console, common, words, bug);
    }
  }

  private int carryOut(
      Invocation invocation, CommandConsole console, Common common, List<String> words)
      throws InterruptedException {
    String verb = words.getFirst();
    Action action = verbs.make(verb).orElseThrow(() -> unknown(invocation, verb));
    CommandLines.parse(verb, action, common, words.subList(1, words.size()));
    try (var talk =
        new ConsoleTalk(
            console,
            services.timing().clock(),
            services.timing().ticker(),
            new Client(invocation),
            ConsoleTalk.ProgressForm.of(common.quiet, common.json, console.look()),
            common.yes)) {
      Call call = new Call(services, invocation, console, talk, common, words, toldShells);
      if (common.help) {
        call.print(new CommandHelp(verb, action).text());
        return ExitStatus.DONE.number();
      }
      return action.run(call);
    }
  }

  private GpushException unknown(Invocation invocation, String word) {
    boolean isAtPrompt = ToldShells.isShell(invocation.environment()) && !word.startsWith("-");
    boolean isProgram = isAtPrompt && Programs.find(invocation.environment(), word).isPresent();
    List<String> nearest = isProgram ? List.of() : Nearest.to(word, verbs.names());
    return new GpushException(new UnknownCommand(word, nearest, isAtPrompt));
  }

  /** The user who typed the command. */
  private record Client(Invocation invocation) implements Asker {
    @Override
    public Optional<String> ask(String question) throws InterruptedException {
      return invocation.ask(question, false);
    }

    @Override
    public boolean isCancelled() {
      return invocation.isCancelled();
    }
  }

  /** The words with the verb in front: options that all commands take may also come before it. */
  private static List<String> verbFirst(List<String> arguments) {
    if (arguments.isEmpty()) {
      return List.of("help");
    }
    int verb = CommandLines.verbAt(arguments);
    if (verb == arguments.size()) {
      return switch (arguments.getFirst()) {
        case "--version", "-V" -> List.of("version");
        case "--help", "-h" -> List.of("help");
        default -> arguments;
      };
    }
    return CommandLines.verbFirst(arguments, verb);
  }

  private static Look look(Invocation invocation) {
    Facts facts = invocation.facts();
    boolean smart =
        !facts.type().isEmpty()
            && !facts.type().equals("dumb")
            && !Look.isPlain(invocation.environment());
    return new Look(
        facts.err() && smart,
        facts.err() && facts.colours() > 0,
        facts.out() ? facts.columns() : 0,
        facts.err() ? facts.columns() : 0);
  }

  private static int tell(
      CommandConsole console, Common common, List<String> words, GpushException known) {
    Failure failure = known.failure();
    String text =
        console
            .look()
            .text(new FailureText(words, new SessionCommands(common.session)).of(failure));
    if (common.verbose) {
      text += "  code: " + failure.kind() + "\n";
      for (Throwable cause = known.getCause(); cause != null; cause = cause.getCause()) {
        text += "  cause: " + cause + "\n";
      }
    }
    write(console, text);
    return failure.exit().of(words).number();
  }

  private int bug(CommandConsole console, Common common, List<String> words, Throwable bug) {
    Path log = services.gateway().bugs().report(words.getFirst(), bug);
    String text =
        "gpush: this is a bug in gpush, not your mistake; what happened is in " + log + "\n";
    write(console, common.verbose ? text + "  cause: " + bug + "\n" : text);
    return ExitStatus.BUG.of(words).number();
  }

  private static void write(CommandConsole console, String text) {
    console.write(true, text.getBytes(StandardCharsets.UTF_8));
  }
}
