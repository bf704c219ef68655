package dev.gpush.backends.slurm;

import dev.gpush.backends.slurm.cluster.SlurmNode;
import java.time.Duration;
import java.util.List;

/**
 * The options of one job.
 *
 * @param options for sbatch, beyond name and files
 * @param partitions as given to sbatch; empty for the default
 * @param fitting the nodes that it could get
 * @param closed why no partition starts jobs now; empty when one does
 * @param gpuModel the site's name; empty for CPU nodes
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
