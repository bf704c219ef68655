package dev.gpush.core.run;

import dev.gpush.core.gang.GpuRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code run} asks of a session.
 *
 * @param overwrite replace files that were changed on the nodes
 * @param log what NCCL writes
 */
public record RunRequest(Command command, Claim claim, boolean overwrite, NcclLog log) {
  /** What NCCL writes about itself. */
  public enum NcclLog {
    /** As the environment says it. */
    UNCHANGED,
    /** Its whole start, into files on the nodes. */
    FILES
  }

  public RunRequest(Command command, Claim claim, boolean overwrite) {
    this(command, claim, overwrite, NcclLog.UNCHANGED);
  }

  /**
   * What is launched.
   *
   * @param words the script and everything after it, untouched; empty: repeat the last run
   * @param folder the client's current folder; the run starts at the same place in the workspace
   * @param python another interpreter or environment than the session's
   * @param environment the client's variables
   */
  public record Command(
      List<String> words, Path folder, Optional<String> python, Map<String, String> environment) {
    public Command {
      words = List.copyOf(words);
      environment = Map.copyOf(environment);
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
    /** All nodes and GPUs of the session. */
    public Claim ofAll() {
      return new Claim(Optional.empty(), Optional.empty(), on, waits);
    }
  }

  public RunRequest claiming(Claim other) {
    return new RunRequest(command, other, overwrite, log);
  }

  /** The same with another log. */
  public RunRequest logging(NcclLog other) {
    return new RunRequest(command, claim, overwrite, other);
  }
}
