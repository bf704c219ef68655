package dev.gpush.launch.plan;

import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.text.Phrase;
import dev.gpush.launch.words.RunWords;
import java.util.List;

/** Whether ranks can be started as they were asked for, and how many of mpirun's there are. */
record RankCheck(RunRequest.Ranks ranks) {
  /** Only what starts ranks can start another number of them, and only a program has warm ones. */
  void requireRanks(RunWords words) {
    if (ranks.warm() && !(words.form() instanceof RunWords.Program)) {
      throw UsageFailure.ofRun(
          "--warm is for ranks of a Python program, and "
              + words.form().words().getFirst()
              + " starts its processes by itself");
    }
    if (ranks.perNode().isPresent() && words.form() instanceof RunWords.RayProgram) {
      throw UsageFailure.ofRun(
          "--nproc is a number of ranks, and Ray starts its workers by itself");
    }
    if (ranks.perNode().isPresent() && !words.startsRanks()) {
      throw UsageFailure.ofRun(
          "--nproc is a number of ranks, and "
              + words.form().words().getFirst()
              + " runs once per node; only Python programs and launchers have ranks");
    }
  }

  /** A rank without a GPU of its own fails when it takes its device. */
  void requireGpus(List<NodeInfo> nodes, SlotPlan slots) {
    for (SlotPlan.Claim claim : slots.claims()) {
      int gpus = claim.slots().size();
      if (nodes.get(claim.node()).hasGpus() && ranks.perNode().orElse(0) > gpus) {
        throw UsageFailure.ofRun(
            "each rank needs a GPU, and this run claims "
                + gpus
                + " on node "
                + claim.node()
                + ", so --nproc must be at most "
                + gpus
                + ", not "
                + ranks.perNode().get());
      }
    }
  }

  /**
   * With the number that mpirun was given: without GPUs, as many on each node as that needs.
   *
   * @param nodes of the session
   */
  RunRequest.Ranks of(RunWords words, List<NodeInfo> nodes, SlotPlan slots) {
    if (!(words.form() instanceof RunWords.Mpi(var command, _))
        || command.ranks().isEmpty()
        || command.isOversubscribed()) {
      return ranks;
    }
    int asked = command.ranks().getAsInt();
    int claims = slots.claims().size();
    boolean hasGpus = slots.claims().stream().anyMatch(claim -> nodes.get(claim.node()).hasGpus());
    if (ranks.perNode().isEmpty() && !hasGpus) {
      return ranks.perNode((asked + claims - 1) / claims);
    }
    int room =
        slots.claims().stream()
            .mapToInt(claim -> ranks.perNode().orElse(claim.slots().size()))
            .sum();
    if (asked > room) {
      throw UsageFailure.ofRun(
          command.launcher()
              + " is asked for "
              + asked
              + " ranks, and this run has "
              + room
              + (ranks.perNode().isPresent()
                  ? ": --nproc " + ranks.perNode().get() + " on " + Phrase.counted(claims, "node")
                  : ", one for each GPU that it claims")
              + "; ask for at most "
              + room
              + ", or use --oversubscribe of Open MPI");
    }
    return ranks;
  }
}
