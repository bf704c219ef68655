package dev.gpush.core.run;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.text.Phrase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code run} asks of a session.
 *
 * @param overwrite replace files that were changed on the nodes
 * @param log what NCCL writes
 */
public record RunRequest(
    Command command, Claim claim, Ranks ranks, boolean overwrite, NcclLog log, RunKind kind) {
  /** What NCCL writes about itself. */
  public enum NcclLog {
    /** What the environment says. */
    UNCHANGED,
    /** Everything about its start, into files on the nodes. */
    FILES
  }

  /** Of a program whose environment says what NCCL writes. */
  public RunRequest(Command command, Claim claim, Ranks ranks, boolean overwrite) {
    this(command, claim, ranks, overwrite, NcclLog.UNCHANGED, RunKind.PROGRAM);
  }

  /**
   * What is launched.
   *
   * @param words the script and everything after it, unchanged, behind {@link #LAUNCHER} and its
   *     value where the option was given; empty: repeat the last run
   * @param folder the client's current folder; the run starts at the same place in the workspace
   * @param python empty: the session's interpreter or environment
   * @param environment the client's variables
   * @param variables what the user sets for this run
   * @param at the generation whose files are run; empty: the present ones. Without words, its
   *     newest run is repeated
   */
  public record Command(
      List<String> words,
      Path folder,
      Optional<String> python,
      Map<String, String> environment,
      Map<String, String> variables,
      Optional<Long> at) {
    /** The option is among the words, so that a repeated run has it too. */
    public static final String LAUNCHER = "--launcher";

    /** The launcher of a batch script whose name does not say that it is one. */
    public static final String BATCH = "sbatch";

    public Command {
      words = List.copyOf(words);
      environment = Map.copyOf(environment);
      variables = Map.copyOf(variables);
    }

    /** Of the present files. */
    public Command(
        List<String> words,
        Path folder,
        Optional<String> python,
        Map<String, String> environment,
        Map<String, String> variables) {
      this(words, folder, python, environment, variables, Optional.empty());
    }
  }

  /**
   * How the ranks are started.
   *
   * @param perNode how many; empty: one for each slot that is claimed
   * @param restarts how many times all ranks are started again after a failure
   * @param warm they are forked from interpreters that are kept on the nodes
   * @param fromSnapshot they run a copy of the files, so that the workspace may change meanwhile
   */
  public record Ranks(Optional<Integer> perNode, int restarts, boolean warm, boolean fromSnapshot) {
    /** Agents refuse more on one node. */
    public static final int MOST_PER_NODE = 1024;

    /** A gang that fails more often than this does not train. */
    public static final int MOST_RESTARTS = 1000;

    public Ranks(Optional<Integer> perNode, int restarts) {
      this(perNode, restarts, false, false);
    }

    /** One for each slot, without restarts. */
    public static Ranks usual() {
      return new Ranks(Optional.empty(), 0);
    }

    /** The same with so many on each node. */
    public Ranks perNode(int count) {
      return new Ranks(Optional.of(count), restarts, warm, fromSnapshot);
    }

    /** What differs from the default, for the line before the output. */
    public List<String> words() {
      var words = new ArrayList<String>();
      if (fromSnapshot) {
        words.add("from a snapshot");
      }
      if (restarts > 0) {
        words.add("up to " + Phrase.counted(restarts, "restart"));
      }
      return words;
    }

    public Ranks fromSnapshot(boolean is) {
      return new Ranks(perNode, restarts, warm, is);
    }
  }

  /**
   * The part of the session that the run claims. If the session is made for the run, nodes and GPUs
   * are the session's size instead.
   *
   * @param nodes how many; empty: all
   * @param gpus per node; empty: all
   * @param on slots by name: {@code 0:4-7}, {@code 0-1}; empty: any that are free
   * @param waits whether the run waits until what it claims is free
   */
  public record Claim(
      Optional<Integer> nodes, Optional<GpuRequest> gpus, Optional<String> on, boolean waits) {
    /** How many slots of each node; empty: all. */
    public Optional<Integer> slots() {
      return gpus.map(GpuRequest::count);
    }

    /** In words, for failures. */
    public String words() {
      if (on.isPresent()) {
        return "--on " + on.get() + slots().map(count -> " --gpus " + count).orElse("");
      }
      if (nodes.isEmpty() && gpus.isEmpty()) {
        return "all slots";
      }
      return (nodes.map(count -> "--nodes " + count + " ").orElse("")
              + slots().map(count -> "--gpus " + count).orElse(""))
          .strip();
    }

    /** All nodes and GPUs of the session. */
    public Claim ofAll() {
      return new Claim(Optional.empty(), Optional.empty(), on, waits);
    }
  }

  public RunRequest claiming(Claim other) {
    return new RunRequest(command, other, ranks, overwrite, log, kind);
  }

  /** The same with the files of a generation; empty: the present ones. */
  public RunRequest at(Optional<Long> generation) {
    var other =
        new Command(
            command.words(),
            command.folder(),
            command.python(),
            command.environment(),
            command.variables(),
            generation);
    return new RunRequest(other, claim, ranks, overwrite, log, kind);
  }

  /** The same with a copy of the files, or in the workspace. */
  public RunRequest fromSnapshot(boolean is) {
    return new RunRequest(command, claim, ranks.fromSnapshot(is), overwrite, log, kind);
  }

  public RunRequest as(RunKind other) {
    return new RunRequest(command, claim, ranks, overwrite, log, other);
  }

  public RunRequest logging(NcclLog other) {
    return new RunRequest(command, claim, ranks, overwrite, other, kind);
  }
}
