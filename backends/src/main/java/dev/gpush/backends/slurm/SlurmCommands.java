package dev.gpush.backends.slurm;

import dev.gpush.backends.floor.NotTold;
import dev.gpush.backends.floor.Text;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** Slurm's programs on the login node. They may hang for as long as the controller does. */
final class SlurmCommands {
  /** Slurm's own message timeout is 10 s, and it tries again. */
  static final Duration LIMIT = Duration.ofSeconds(45);

  private final Machine machine;
  private final Inquiry inquiry;

  SlurmCommands(Machine machine, Tasks tasks) {
    this.machine = machine;
    this.inquiry = new Inquiry(machine, tasks);
  }

  Machine machine() {
    return machine;
  }

  /** The answer, whatever the status is. */
  Inquiry.Answer ask(List<String> command, String input, Duration limit)
      throws InterruptedException, NotTold {
    try {
      return inquiry.ask(command, input, limit);
    } catch (IOException broken) {
      throw new NotTold(
          machine.name() + ": " + Text.clean(String.valueOf(broken.getMessage())), broken);
    } catch (GpushException closed) {
      if (closed.failure() instanceof MachineFailure failure) {
        throw new NotTold(words(failure), closed);
      }
      throw closed;
    } catch (TimeoutException late) {
      throw new NotTold(
          command.getFirst()
              + " on "
              + machine.name()
              + " has not answered for "
              + DurationText.of(limit),
          late);
    }
  }

  private String words(MachineFailure failure) {
    return failure instanceof MachineFailure.NeedsYou(_, var login, _)
        ? machine.name() + " needs you: gpush login " + login
        : "there is no way to " + machine.name() + " now";
  }

  /** What a program prints that succeeds unless nobody can tell. */
  String read(List<String> command) throws InterruptedException, NotTold {
    return read(command.getFirst(), command);
  }

  /** As {@link #read(List)}, of a program that a shell runs. */
  String read(String program, List<String> command) throws InterruptedException, NotTold {
    Inquiry.Answer answer = ask(command, "", LIMIT);
    if (!answer.succeeded()) {
      throw new NotTold(problem(program, answer), null);
    }
    return answer.output();
  }

  static String problem(String program, Inquiry.Answer answer) {
    String said = answer.errors().toLowerCase(java.util.Locale.ROOT);
    if (said.contains(Refusal.NO_ACCOUNTING)) {
      return Refusal.ACCOUNTING_SILENT;
    }
    if (said.contains(Refusal.NO_CLUSTER)) {
      return Refusal.NO_SUCH_CLUSTER + " (sacctmgr list clusters tells which there are)";
    }
    if (said.contains("unable to contact slurm controller")
        || said.contains("socket timed out")
        || said.contains("connection refused")) {
      return "the Slurm controller does not answer";
    }
    if (answer.status() == 127) {
      return "there is no " + program + " on the PATH of the login node";
    }
    String words = Text.clean(answer.errors());
    return program + " failed: " + (words.isEmpty() ? "exit status " + answer.status() : words);
  }
}
