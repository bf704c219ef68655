package dev.gpush.backends.slurm;

import dev.gpush.core.text.ShellQuote;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The batch script of the job. It starts the agents as one step over all nodes and stays until that
 * ends: so the job lasts as long as its agents, until their lease ends, with or without a gateway.
 *
 * <p>The agents are a step of the script and not of a later srun, because with cgroups Slurm kills
 * all processes that a short step leaves behind.
 */
final class HolderScript {
  private static final List<String> SRUN =
      List.of(
          "srun",
          "--overlap",
          "--ntasks-per-node=1",
          "--kill-on-bad-exit=0",
          "--wait=0",
          "--input=all",
          "--export=ALL",
          "--cpu-bind=none",
          // Programs under an agent must not become MPI ranks of its step.
          "--mpi=none",
          "--mem=0");

  private HolderScript() {}

  /**
   * @param agent the command that starts an agent
   * @param packet its input
   * @param folder of the job's log; both are removed after success
   * @param container in which the agents are started, if any
   * @param under the folder of the workspaces
   */
  static String text(
      String session,
      int nodes,
      List<String> agent,
      byte[] packet,
      String folder,
      Optional<Container> container,
      String under) {
    // A comment must be one line.
    String name = session.replaceAll("[^A-Za-z0-9_.-]", "?");
    var step = new ArrayList<>(SRUN);
    step.addAll(List.of("--nodes=" + nodes, "--ntasks=" + nodes));
    String first =
        container
            .map(_ -> ShellQuote.join(step) + " -- mkdir -p " + ShellQuote.of(under))
            .orElse(":");
    container.ifPresent(image -> step.addAll(image.options(under)));
    return """
    #!/bin/sh
    # Holds the nodes of the gpush session %s until its lease is over; "gpush down" gives them back.
    folder=%s
    # A step is not asked for what the job was, but for all that it has.
    unset SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU SLURM_MEM_PER_NODE SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK
    %s
    base64 -d <<'GPUSH' | %s -- %s &
    %s
    GPUSH
    step=$!
    trap 'kill -TERM "$step" 2>/dev/null' TERM INT HUP USR2
    status=0
    while kill -0 "$step" 2>/dev/null; do
      wait "$step"
      status=$?
    done
    if [ "$status" -eq 0 ]; then
      cd /
      rm -f "$folder/job.log"
      rmdir "$folder" 2>/dev/null
    fi
    exit "$status"
    """
        .formatted(
            name,
            ShellQuote.of(folder),
            first,
            ShellQuote.join(step),
            ShellQuote.join(agent),
            Base64.getMimeEncoder().encodeToString(packet).replace("\r", ""));
  }
}
