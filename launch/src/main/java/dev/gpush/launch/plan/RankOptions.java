package dev.gpush.launch.plan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.launch.words.RunWords;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How many ranks a node starts, how, and how often all are started again.
 *
 * @param perNode empty: one for each slot that the run claims there
 * @param restarts after failures
 * @param warm forked from interpreters that are kept on the nodes
 * @param fromSnapshot with files of their own
 */
public record RankOptions(
    Optional<Integer> perNode, int restarts, boolean warm, boolean fromSnapshot) {
  RankOptions(Optional<Integer> perNode, int restarts) {
    this(perNode, restarts, false, false);
  }

  /** What is not as usual, for the line before the output. */
  List<String> words() {
    var words = new ArrayList<String>();
    if (fromSnapshot) {
      words.add("from a snapshot");
    }
    if (restarts > 0) {
      words.add("up to " + restarts + (restarts == 1 ? " restart" : " restarts"));
    }
    return words;
  }

  /** Only what starts ranks can start another number of them, and only a program has warm ones. */
  void requireRanks(RunWords words) {
    if (warm && !(words.form() instanceof RunWords.Program)) {
      throw bad(
          "--warm is for ranks of a Python program, and "
              + words.form().words().getFirst()
              + " starts its processes by itself");
    }
    if (perNode.isPresent() && words.form() instanceof RunWords.RayProgram) {
      throw bad("--nproc is a number of ranks, and Ray starts its workers by itself");
    }
    if (perNode.isPresent() && !words.startsRanks()) {
      throw bad(
          "--nproc is a number of ranks, and "
              + words.form().words().getFirst()
              + " runs once per node; only Python programs and launchers have ranks");
    }
  }

  /** A rank without a GPU of its own fails when it takes its device. */
  void requireGpus(List<NodeInfo> nodes, SlotPlan slots) {
    for (SlotPlan.Claim claim : slots.claims()) {
      int gpus = claim.slots().size();
      if (nodes.get(claim.node()).hasGpus() && perNode.orElse(0) > gpus) {
        throw bad(
            "each rank needs a GPU, and this run claims "
                + gpus
                + " on node "
                + claim.node()
                + ", so --nproc must be at most "
                + gpus
                + ", not "
                + perNode.get());
      }
    }
  }

  /**
   * With the number that mpirun was given: without GPUs, as many on each node as that needs.
   *
   * @param nodes of the session
   */
  RankOptions of(RunWords words, List<NodeInfo> nodes, SlotPlan slots) {
    if (!(words.form() instanceof RunWords.Mpi(var command, _))
        || command.ranks().isEmpty()
        || command.isOversubscribed()) {
      return this;
    }
    int asked = command.ranks().getAsInt();
    int claims = slots.claims().size();
    boolean hasGpus = slots.claims().stream().anyMatch(claim -> nodes.get(claim.node()).hasGpus());
    if (perNode.isEmpty() && !hasGpus) {
      return new RankOptions(
          Optional.of((asked + claims - 1) / claims), restarts, warm, fromSnapshot);
    }
    int room =
        slots.claims().stream().mapToInt(claim -> perNode.orElse(claim.slots().size())).sum();
    if (asked > room) {
      throw bad(
          command.launcher()
              + " is asked for "
              + asked
              + " ranks, and this run has "
              + room
              + (perNode.isPresent()
                  ? ": --nproc "
                      + perNode.get()
                      + " on "
                      + claims
                      + (claims == 1 ? " node" : " nodes")
                  : ", one for each GPU that it claims")
              + "; ask for at most "
              + room
              + ", or use --oversubscribe of Open MPI");
    }
    return this;
  }

  private static GpushException bad(String rule) {
    return new GpushException(new UsageFailure.BadArguments("run", rule, List.of()));
  }
}
