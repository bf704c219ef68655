package dev.gpush.launch.words;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.UsageFailure.BadLine;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BatchBodyTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "srun python train.py --pty --jobid 3",
        "srun --nodes=1 -w $head hostname --ip-address",
        "ip=$(srun -N1 -n1 hostname -I)",
        "nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )",
        "# sbatch other.sh",
        "echo sbatch this with sbatch",
        "if srun -l true; then echo yes; fi",
        "module load cuda && srun --cpu-bind=none --gpus-per-task 1 ./a.out",
        "mysrun --pty bash"
      })
  void takesWhatWorks(String line) {
    assertEquals(List.of(), BatchBody.bad(line + "\n"));
  }

  @Test
  void namesEveryLineThatNeedsSlurmItself() {
    assertEquals(
        List.of(
            new BadLine(
                3,
                "sbatch is not possible here: it needs Slurm itself, and a run is not a Slurm"
                    + " job"),
            new BadLine(4, "srun --pty is not possible here"),
            new BadLine(5, "srun --container-image is not possible here"),
            new BadLine(7, "only scontrol show hostnames is possible here"),
            new BadLine(8, "scancel is not possible here: gpush stop ends a run")),
        BatchBody.bad(
            """
            #!/bin/bash
            #SBATCH --nodes=2
            true && sbatch next.sh
            srun --nodes 1 --pty bash
            srun -N2 \\
              --container-image=nvcr.io/x python a.py
            scontrol update JobId=$SLURM_JOB_ID TimeLimit=1
            trap 'echo' EXIT; scancel $SLURM_JOB_ID
            """));
  }
}
