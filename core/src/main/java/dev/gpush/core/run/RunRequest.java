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
    /** As the environment says it. */
    UNCHANGED,
    /** Its whole start, into files on the nodes. */
    FILES
  }

  /** Of a program. */
  public RunRequest(Command command, Claim claim, Ranks ranks, boolean overwrite, NcclLog log) {
    this(command, claim, ranks, overwrite, log, RunKind.PROGRAM);
  }

  public RunRequest(Command command, Claim claim, Ranks ranks, boolean overwrite) {
    this(command, claim, ranks, overwrite, NcclLog.UNCHANGED);
  }

  /**
   * What is launched.
   *
   * @param words the script and everything after it, untouched; empty: repeat the last run; they
   *     begin with {@link #LAUNCHER} and its value where the option was given
   * @param folder the client's current folder; the run starts at the same place in the workspace
   * @param python another interpreter or environment than the session's
   * @param environment the client's variables
   * @param variables those that the user names for this run
   * @param at the generation whose files are run; empty: the present ones. Without words its newest
   *     run is repeated
   */
  public record Command(
      List<String> words,
      Path folder,
      Optional<String> python,
      Map<String, String> environment,
      Map<String, String> variables,
      Optional<Long> at) {
    /** One of the words, because a run that is repeated has the launcher too. */
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
   * @param restarts how often all ranks are started again after a failure
   * @param warm forked from interpreters that are kept on the nodes
   * @param fromSnapshot with files of their own, so that the workspace may go on changing
   */
  public record Ranks(Optional<Integer> perNode, int restarts, boolean warm, boolean fromSnapshot) {
    /** More on one node is a typing error; agents refuse it. */
    public static final int MOST_PER_NODE = 1024;

    /** A gang that fails more often than this does not train. */
    public static final int MOST_RESTARTS = 1000;

    public Ranks(Optional<Integer> perNode, int restarts) {
      this(perNode, restarts, false, false);
    }

    /** One for each slot, and the first failure is the end. */
    public static Ranks usual() {
      return new Ranks(Optional.empty(), 0);
    }

    /** The same with so many on each node. */
    public Ranks perNode(int count) {
      return new Ranks(Optional.of(count), restarts, warm, fromSnapshot);
    }

    /** What is not as usual, for the line before the output. */
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
   * The part of the session that the run claims. Of a session that is made for the run, nodes and
   * GPUs are its size instead.
   *
   * @param nodes how many; empty: all
   * @param gpus per node; empty: all
   * @param on slots by name: {@code 0:4-7}, {@code 0-1}; empty: any free
   * @param waits until what it claims is free
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

  /** The same with files of its own, or in the workspace. */
  public RunRequest fromSnapshot(boolean is) {
    return new RunRequest(command, claim, ranks.fromSnapshot(is), overwrite, log, kind);
  }

  /** The same as another kind of run. */
  public RunRequest as(RunKind other) {
    return new RunRequest(command, claim, ranks, overwrite, log, other);
  }

  /** The same with another log. */
  public RunRequest logging(NcclLog other) {
    return new RunRequest(command, claim, ranks, overwrite, other, kind);
  }
}
