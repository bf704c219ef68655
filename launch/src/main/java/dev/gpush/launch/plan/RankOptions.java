package dev.gpush.launch.plan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.NodeInfo;
import java.util.List;
import java.util.Optional;

/**
 * How many ranks a node starts, and how often all are started again.
 *
 * @param perNode empty: one for each slot that the run claims there
 * @param restarts after failures
 */
public record RankOptions(Optional<Integer> perNode, int restarts) {
  /** Only what starts ranks can start another number of them. */
  void requireRanks(RunWords words) {
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

  private static GpushException bad(String rule) {
    return new GpushException(new UsageFailure.BadArguments("run", rule, List.of()));
  }
}
