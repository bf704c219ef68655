package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.talk.Talk;
import dev.gpush.testkit.fixture.Asked;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Real MPI and real Ray, on two agents of this machine; needs the rig launchers. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("training")
final class MpiAndRayRunsTest extends TwoAgents {
  private static final RunRequest.Ranks USUAL = RunRequest.Ranks.usual();

  private static String rig = "";

  @BeforeAll
  static void rig() throws Exception {
    rig = PythonRigs.launchers();
  }

  private RunView launch(String mpi, RunRequest.Ranks ranks, String... words)
      throws InterruptedException {
    RunRequest request = Asked.by(rig + "/" + mpi + "/bin/python", asked(words));
    return launch(Asked.with(ranks, request), Map.of("SHARD", "blue"));
  }

  private Optional<Integer> follow(RunView run) throws InterruptedException {
    return follow(run.number());
  }

  private static boolean isRunning(String mark) {
    return ProcessHandle.allProcesses()
        .anyMatch(process -> process.info().commandLine().orElse("").contains(mark));
  }

  /** Each rank has the variables and the folder of its own node. */
  @ParameterizedTest
  @ValueSource(strings = {"openmpi", "mpich"})
  void ranksOfMpirunAreOnAllNodes(String mpi) throws Exception {
    gang.put(
        "work.py",
        """
        import os
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        own = os.environ["GPUSH_WORKSPACE"] == os.getcwd()
        line = "rank %s of %s, %s on node %s, %s, %s, sum %d" % (
            os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["LOCAL_RANK"],
            os.environ["GPUSH_NODE"], os.environ["SHARD"], own, world.allreduce(world.rank))
        for line in world.gather(line) or ():
            print(line, flush=True)
        """);

    RunView run = launch(mpi, USUAL, "mpirun", "-np", "4", "-H", "elsewhere", "python", "work.py");

    assertEquals(Optional.of(0), follow(run), output.lines()::toString);
    assertTrue(run.header().contains("4 ranks by mpirun"), run::header);
    assertTrue(
        talk.said().contains("instead of -H elsewhere: the nodes and ranks of this session"),
        talk.said()::toString);
    assertEquals(
        List.of(
            "0/0 rank 0 of 4, 0 on node 0, blue, True, sum 6",
            "0/0 rank 1 of 4, 1 on node 0, blue, True, sum 6",
            "0/0 rank 2 of 4, 0 on node 1, blue, True, sum 6",
            "0/0 rank 3 of 4, 1 on node 1, blue, True, sum 6"),
        output.printed());
  }

  /** Open MPI gives ranks of two nodes the same file then, and one of them crashes now and then. */
  @Test
  void nodesThatAreOneMachineShareNoMemoryOfOpenMpi() throws Exception {
    gang.put(
        "work.py",
        """
        from mpi4py import MPI
        world = MPI.COMM_WORLD
        for i in range(100):
            assert world.allreduce(world.rank + i) == 6 + 4 * i
        files = {line.split()[4] for line in open("/proc/self/maps") if "sm_segment" in line}
        of_ranks = world.gather(files)
        if world.rank == 0:
            nodes = of_ranks[0] | of_ranks[1], of_ranks[2] | of_ranks[3]
            print("files: %s, shared: %s" % (all(nodes), nodes[0] & nodes[1]), flush=True)
        """);

    RunView run = launch("openmpi", USUAL, "mpirun", "-np", "4", "python", "work.py");

    assertEquals(Optional.of(0), follow(run), output.lines()::toString);
    assertEquals(List.of("0/0 files: True, shared: set()"), output.printed());
  }

  /** mpi4py alone would wait for the other ranks. */
  @ParameterizedTest
  @ValueSource(strings = {"openmpi", "mpich"})
  void theRankOfMpiThatFailedIsNamedAndAllEnd(String mpi) throws Exception {
    gang.put(
        "work.py",
        """
        import sys, time
        from mpi4py import MPI
        if MPI.COMM_WORLD.rank == 3:
            raise ValueError("no such shard")
        time.sleep(1000)
        """);
    String mark = "mark-of-" + gang.project();

    RunView run = launch(mpi, USUAL, "mpirun", "-np", "4", "python", "work.py", mark);

    assertEquals(Optional.of(1), follow(run), output.lines()::toString);
    RunFailure failure = launcher.find(Optional.of(run.number())).failure().orElseThrow();
    assertEquals(3, failure.shownRank(), output.lines()::toString);
    assertTrue(failure.toString().contains("no such shard"), failure::toString);
    assertTrue(!isRunning(mark));
  }

  /** mpirun of MPICH says nothing of ranks then. */
  @ParameterizedTest
  @CsvSource({"openmpi, exit 5", "mpich, exit 5", "openmpi, kill -SEGV $$", "mpich, kill -SEGV $$"})
  void theRankOfAnyProgramThatFailedIsNamed(String mpi, String end) throws Exception {
    String text = "[ $RANK = 2 ] || exit 0; " + end;

    RunView run = launch(mpi, USUAL, "mpirun", "-np", "4", "sh", "-c", text);

    follow(run);
    RunView ended = launcher.find(Optional.of(run.number()));
    assertEquals(RunView.State.FAILED, ended.state());
    assertEquals(2, ended.failure().orElseThrow().shownRank(), output.lines()::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"openmpi", "mpich"})
  void stopEndsTheRanksOfMpirun(String mpi) throws Exception {
    String mark = "mark-of-" + gang.project();
    RunView run =
        launch(mpi, USUAL, "mpirun", "-np", "4", "sh", "-c", "echo begun; sleep 1000", mark);

    RunView ended = launcher.stop(run.number(), "INT", Duration.ofSeconds(20), Talk.silent());

    assertEquals(RunView.State.STOPPED, ended.state());
    assertTrue(!isRunning(mark));
  }

  @Test
  void withoutMpirunARunSaysWhatToInstall() throws Exception {
    RunView run = launch("openmpi", USUAL, "mpirun.absent", "-np", "2", "./a");

    assertEquals(Optional.of(127), follow(run));
    assertTrue(output.lines().toString().contains("there is no mpirun.absent on node 0"));
  }

  @Test
  void moreRanksThanThereIsRoomForAreRefused() {
    var two = new RunRequest.Ranks(Optional.of(2), 0);

    var refused =
        assertThrows(
            GpushException.class, () -> launch("openmpi", two, "mpirun", "-np", "5", "./a"));

    assertEquals(
        "mpirun is asked for 5 ranks, and this run has 4: --nproc 2 on 2 nodes; ask for at most 4,"
            + " or use --oversubscribe of Open MPI",
        ((UsageFailure.BadArguments) refused.failure()).rule());
  }

  /** What Ray started is gone with the script, and its folder and ports are too. */
  @Test
  void rayHasAllNodesAndIsGoneAfterwards() throws Exception {
    gang.put("beside.py", "NAME = 'beside'\n");
    gang.put(
        "job.py",
        """
        import os, sys
        import beside, ray
        ray.init(logging_level="ERROR")

        @ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
        class Shard:
            def node(self):
                import beside
                assert os.getcwd() == os.environ["GPUSH_WORKSPACE"]
                return os.environ["GPUSH_NODE"] + " " + beside.NAME

        shards = [Shard.remote() for _ in range(2)]
        print(sorted(ray.get([shard.node.remote() for shard in shards])))
        print(os.environ["RAY_ADDRESS"].split(":")[1])
        sys.exit(7)
        """);

    RunView run = launch("openmpi", USUAL, "--launcher", "ray", "job.py");

    assertEquals(Optional.of(7), follow(run), output.lines()::toString);
    assertTrue(run.header().contains("2 nodes by ray"), run::header);
    List<String> said = output.lines().stream().filter(line -> line.startsWith("0/0 ")).toList();
    assertEquals("0/0 ['0 beside', '1 beside']", said.getFirst());
    String port = said.get(1).split(" ")[1];
    assertTrue(!isRunning(":" + port));
    new ServerSocket(Integer.parseInt(port)).close();
  }

  /**
   * The workspace's own ray.scripts stands in for a Ray that is slow, as real ones are on a busy
   * node.
   */
  @Test
  void aRayThatTookTooLongStartsAgain() throws Exception {
    gang.put("job.py", "print('ran')\n");
    gang.put("ray/__init__.py", "");
    gang.put("ray/scripts/__init__.py", "");
    gang.put(
        "ray/scripts/scripts.py",
        """
        import os, sys
        try:
            os.open("slow" + os.environ["GPUSH_NODE"], os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            sys.exit(0)
        sys.exit("The current node timed out during startup.")
        """);

    RunView run = launch("openmpi", USUAL, "--launcher", "ray", "job.py");

    assertEquals(Optional.of(0), follow(run), output.lines()::toString);
    assertTrue(
        output.lines().contains("0/0! gpush: Ray took too long to start on node 0; trying again"),
        output.lines()::toString);
    assertTrue(output.lines().contains("0/0 ran"), output.lines()::toString);
  }

  @Test
  void aPythonWithoutRayIsNamed() throws Exception {
    gang.put("job.py", "import ray\n");

    var refused =
        assertThrows(
            GpushException.class, () -> launch("mpich", USUAL, "--launcher", "ray", "job.py"));

    assertEquals(new LaunchFailure.NoPackage(rig + "/mpich/bin/python", "ray"), refused.failure());
  }
}
