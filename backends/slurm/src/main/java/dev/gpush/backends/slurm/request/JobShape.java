package dev.gpush.backends.slurm.request;

import dev.gpush.backends.slurm.cluster.SlurmNode;
import java.time.Duration;
import java.util.List;

/**
 * What one job is asked for.
 *
 * @param options for sbatch, beyond name and files
 * @param partitions as given to sbatch; empty for the default
 * @param fitting the nodes that could be among those it gets
 * @param closed why no partition starts jobs now; empty when one does
 * @param gpuModel as this site calls it; empty for CPU nodes
 * @param cpus per node
 * @param hardEnd when the agents let go by themselves, so that they have time for it
 * @param grace what Slurm gives between its TERM and its KILL, at least
 */
public record JobShape(
    List<String> options,
    String partitions,
    List<SlurmNode> fitting,
    String closed,
    String gpuModel,
    int cpus,
    Duration hardEnd,
    Duration grace) {
  public JobShape {
    options = List.copyOf(options);
    fitting = List.copyOf(fitting);
  }
}
