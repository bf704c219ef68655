package dev.gpush.backends.slurm.command;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/** Slurm's programs on the login node. They hang as long as the controller does. */
public final class SlurmCommands {
  /** Slurm's own message timeout is 10 s, and it tries again. */
  public static final Duration LIMIT = Duration.ofSeconds(45);

  /** squeue lists no job then, and succeeds. */
  private static final String UNKNOWN_USER = "Invalid user";

  private final Machine machine;
  private final Inquiry inquiry;

  public SlurmCommands(Machine machine, Tasks tasks) {
    this.machine = machine;
    this.inquiry = new Inquiry(machine, tasks);
  }

  public Machine machine() {
    return machine;
  }

  /** The answer, whatever the status is. */
  public Inquiry.Answer ask(List<String> command, String input, Duration limit)
      throws InterruptedException, Unanswered {
    return ask(command.getFirst(), command, input, limit);
  }

  private Inquiry.Answer ask(String program, List<String> command, String input, Duration limit)
      throws InterruptedException, Unanswered {
    try {
      return inquiry.ask(command, input, limit);
    } catch (IOException broken) {
      throw new Unanswered(
          machine.name() + ": " + ClusterText.clean(String.valueOf(broken.getMessage())), broken);
    } catch (GpushException closed) {
      if (closed.failure() instanceof MachineFailure failure) {
        throw new Unanswered(words(failure), closed);
      }
      throw closed;
    } catch (TimeoutException late) {
      throw new Unanswered(
          program + " on " + machine.name() + " has not answered for " + DurationText.of(limit),
          late);
    }
  }

  private String words(MachineFailure failure) {
    return switch (failure) {
      case MachineFailure.NeedsYou(_, var login, _) ->
          machine.name() + " needs you: gpush login " + login;
      case MachineFailure.KeyRefused(_, var login, _) ->
          machine.name() + " has refused your keys: gpush login " + login + " tries again";
      default -> machine.name() + " cannot be reached now";
    };
  }

  /** The output of a program that must succeed; otherwise the answer is unknown. */
  public String read(List<String> command) throws InterruptedException, Unanswered {
    return read(command.getFirst(), command);
  }

  /** As {@link #read(List)}, of a program that a shell or env runs. */
  public String read(String program, List<String> command) throws InterruptedException, Unanswered {
    Inquiry.Answer answer = ask(program, command, "", LIMIT);
    if (!answer.succeeded() || answer.errors().contains(UNKNOWN_USER)) {
      throw new Unanswered(problem(program, answer), null);
    }
    return answer.output();
  }

  public static String problem(String program, Inquiry.Answer answer) {
    Optional<String> known = SbatchRefusal.ofAnyProgram(answer.errors());
    if (known.isPresent()) {
      return known.get();
    }
    if (answer.status() == 127) {
      return "there is no " + program + " on the PATH of the login node";
    }
    String words = ClusterText.clean(answer.errors());
    return program + " failed: " + (words.isEmpty() ? "exit status " + answer.status() : words);
  }
}
