package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.talk.Talk;
import dev.gpush.testkit.fixture.Asked;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Programs of the first node that start processes on all of them, on two agents of this machine.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("local")
final class FirstNodeRunsTest extends TwoAgents {
  private static final RunRequest.Ranks TWO = new RunRequest.Ranks(Optional.of(2), 0);

  private RunView launch(RunRequest.Ranks ranks, String... words) throws InterruptedException {
    return launch(Asked.with(ranks, asked(words)), Map.of());
  }

  private Optional<Integer> follow(RunView run) throws InterruptedException {
    return follow(run.number());
  }

  @Test
  void srunOfABatchScriptMeansAllNodes() throws Exception {
    gang.put(
        "job.sbatch",
        """
        #!/bin/bash
        #SBATCH --nodes=2 --ntasks-per-node=2
        head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
        ip=$(srun --nodes=1 --ntasks=1 -w "$head" echo 10.0.0.7)
        export GREETING="hello from $ip"
        echo "only here: $1"
        srun sh -c 'echo "$GREETING $SLURM_PROCID of $SLURM_NTASKS, $SLURM_LOCALID on $SLURM_NODEID"'
        srun -n 3 sh -c 'echo to file $SLURM_PROCID' > all.txt
        sort all.txt
        """);

    RunView run = launch(TWO, "job.sbatch", "an argument");

    assertEquals(Optional.of(0), follow(run), output.lines()::toString);
    assertEquals(
        List.of(
            "0/0 hello from 10.0.0.7 0 of 4, 0 on 0",
            "0/0 hello from 10.0.0.7 1 of 4, 1 on 0",
            "0/0 only here: an argument",
            "0/0 to file 0",
            "0/0 to file 1",
            "0/0 to file 2",
            "1/1 hello from 10.0.0.7 2 of 4, 0 on 1",
            "1/1 hello from 10.0.0.7 3 of 4, 1 on 1"),
        output.lines().stream().sorted().toList());
  }

  @Test
  void theNodeWhoseTaskFailedIsNamedAndTheOthersEnd() throws Exception {
    gang.put(
        "work.py",
        """
        import os, time
        if os.environ["SLURM_PROCID"] == "1":
            raise ValueError("no such shard")
        time.sleep(1000)
        """);
    gang.put("job.sbatch", "#!/bin/bash\n#SBATCH --nodes=2\nset -e\nsrun python3 work.py\n");

    RunView run = launch(new RunRequest.Ranks(Optional.of(1), 0), "job.sbatch");

    assertEquals(Optional.of(1), follow(run), output.lines()::toString);
    RunFailure failure = launcher.find(Optional.of(run.number())).failure().orElseThrow();
    assertEquals(1, failure.rank());
    assertTrue(failure.toString().contains("no such shard"), failure::toString);
  }

  @Test
  void aScriptMayHandleAFailedStep() throws Exception {
    gang.put(
        "job.sbatch",
        """
        #!/bin/bash
        #SBATCH --nodes=2
        srun sh -c 'test $SLURM_PROCID = 0 || exit 3'
        echo "status $?"
        """);

    RunView run = launch(new RunRequest.Ranks(Optional.of(1), 0), "job.sbatch");

    assertEquals(Optional.of(0), follow(run), output.lines()::toString);
    assertTrue(output.lines().contains("0/0 status 3"), output.lines()::toString);
  }

  @Test
  void stopEndsTheStepsOfAllNodes() throws Exception {
    gang.put(
        "job.sbatch", "#!/bin/bash\n#SBATCH --nodes=2\nsrun sh -c 'echo begun; exec sleep 1000'\n");
    RunView run = launch(TWO, "job.sbatch");

    RunView ended = launcher.stop(run.number(), "INT", Duration.ofSeconds(20), Talk.silent());

    assertEquals(RunView.State.STOPPED, ended.state());
  }

  @Test
  void aLineThatCannotBeIsRefusedBeforeAnythingStarts() throws Exception {
    gang.put("job.sbatch", "#!/bin/bash\n#SBATCH --nodes=2\nsrun hostname\nsbatch next.sh\n");

    var refused = assertThrows(GpushException.class, () -> launch(TWO, "job.sbatch"));

    assertEquals(
        new UsageFailure.BadCommands(
            "job.sbatch",
            List.of(
                new UsageFailure.BadLine(
                    4,
                    "sbatch is not possible here: it needs Slurm itself, and a run is not a Slurm"
                        + " job"))),
        refused.failure());
    assertEquals(List.of(), launcher.list());
  }
}
