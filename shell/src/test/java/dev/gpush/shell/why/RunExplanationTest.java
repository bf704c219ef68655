package dev.gpush.shell.why;

import static dev.gpush.shell.why.WhyFixture.inCode;
import static dev.gpush.shell.why.WhyFixture.info;
import static dev.gpush.shell.why.WhyFixture.library;
import static dev.gpush.shell.why.WhyFixture.loading;
import static dev.gpush.shell.why.WhyFixture.moved;
import static dev.gpush.shell.why.WhyFixture.node;
import static dev.gpush.shell.why.WhyFixture.own;
import static dev.gpush.shell.why.WhyFixture.rank;
import static dev.gpush.shell.why.WhyFixture.unseen;
import static dev.gpush.shell.why.WhyFixture.waiting;
import static dev.gpush.shell.why.WhyFixture.with;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.shell.top.TopFixture;
import dev.gpush.shell.top.TopPicture;
import dev.gpush.shell.why.Explanation.Code;
import dev.gpush.shell.why.Explanation.Evidence;
import dev.gpush.shell.why.RunExplanation.Subject;
import dev.gpush.testkit.text.PlainEnglish;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class RunExplanationTest {
  private static final Subject SUBJECT =
      new Subject("run 7 (train.py, 4 ranks, 12m)", Optional.of(7), 4, "/envs/llm/bin/python");

  private static final String RUN = "run 7 (train.py, 4 ranks, 12m) ";

  private static Json reduce(int rank) {
    return waiting(rank, "all_reduce", "train.py", 42);
  }

  private static Json batch(int rank) {
    return inCode(rank, "load_batch", "data.py", 17);
  }

  private static Explanation of(NodeStacks... nodes) {
    return of(SUBJECT, List.of(), nodes);
  }

  private static Explanation of(Subject subject, List<NodeReading> readings, NodeStacks... nodes) {
    var picture =
        new TopPicture(
            "devbox", Duration.ofSeconds(1), Instant.EPOCH, readings, List.of(TopFixture.run()));
    Explanation found = new RunExplanation(subject, List.of(nodes), picture).explain();
    PlainEnglish.check(found.text());
    found.remedies().forEach(PlainEnglish::check);
    return found;
  }

  static Stream<Arguments> places() {
    return Stream.of(
        Arguments.of(
            Code.RANK_APART,
            "stands still: 3 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in load_batch at data.py:17",
            List.of(reduce(0), reduce(1), batch(2), reduce(3))),
        Arguments.of(
            Code.RANK_APART,
            "stands still: rank 0 waits in barrier at train.py:9; ranks 1-3 are in load_batch at data.py:17",
            List.of(waiting(0, "barrier", "train.py", 9), batch(1), batch(2), batch(3))),
        Arguments.of(
            Code.RANK_APART,
            "stands still: 3 of 4 ranks are in load_batch at data.py:17; rank 3 is at train.py:1",
            List.of(batch(0), batch(1), batch(2), rank(3, own("<module>", "train.py", 1)))),
        Arguments.of(
            Code.COLLECTIVES_DIFFER,
            "stands still: 2 of 4 ranks wait in all_reduce at train.py:42; ranks 2, 3 wait in broadcast at train.py:50",
            List.of(
                reduce(0),
                reduce(1),
                waiting(2, "broadcast", "train.py", 50),
                waiting(3, "broadcast", "train.py", 50))),
        Arguments.of(
            Code.SAME_PLACE,
            "stands still: all 4 ranks wait in all_reduce at train.py:42",
            List.of(reduce(0), reduce(1), reduce(2), reduce(3))),
        Arguments.of(
            Code.SAME_PLACE,
            "stands still: 2 of 4 ranks wait in all_reduce at train.py:42; where 2 are is not known",
            List.of(reduce(0), reduce(1))),
        Arguments.of(
            Code.PLACES_DIFFER,
            "stands still: rank 0 is in a at x.py:1; rank 1 is in b at x.py:2; rank 2 is in c at x.py:3; 1 is elsewhere",
            List.of(
                inCode(0, "a", "x.py", 1),
                inCode(1, "b", "x.py", 2),
                inCode(2, "c", "x.py", 3),
                inCode(3, "d", "x.py", 4))),
        Arguments.of(
            Code.LOADER_BOUND,
            "stands still: 3 of 4 ranks wait for the data loader at train.py:30; rank 3 is in load_batch at data.py:17",
            List.of(loading(0), loading(1), loading(2), batch(3))),
        Arguments.of(
            Code.LOADER_BOUND,
            "waits for data: 3 of 4 ranks wait for the data loader at train.py:30; rank 3 is in load_batch at data.py:17",
            List.of(loading(0), moved(loading(1)), loading(2), batch(3))),
        Arguments.of(
            Code.BEHIND,
            "works; at this moment 3 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in load_batch at data.py:17",
            List.of(reduce(0), reduce(1), moved(batch(2)), reduce(3))),
        Arguments.of(
            Code.WORKING,
            "works: ranks moved while gpush looked",
            List.of(moved(reduce(0)), reduce(1), moved(batch(2)), reduce(3))),
        Arguments.of(
            Code.RANK_GONE,
            "waits for rank 2, which a signal has stopped (SIGSTOP, a debugger or Ctrl-Z)",
            List.of(reduce(0), reduce(1), with(batch(2), "state", "T"), reduce(3))),
        Arguments.of(
            Code.RANK_GONE,
            "waits for ranks 2, 3, whose processes have ended",
            List.of(
                reduce(0),
                reduce(1),
                with(batch(2), "state", "Z"),
                with(batch(3), "state", "ended"))));
  }

  @ParameterizedTest
  @MethodSource("places")
  void ranksAreComparedByTheirPlaces(Code code, String text, List<Json> ranks) {
    Explanation found = of(node(0, 660, ranks.toArray(new Json[0])));

    assertEquals(RUN + text, found.text());
    assertEquals(code, found.code());
  }

  static Stream<Arguments> processes() {
    return Stream.of(
        Arguments.of("2 of 4 ranks wait, none computes", List.of("S", 0.0, "S", 1.0)),
        Arguments.of(
            "2 of 4 ranks compute or wait in NCCL, which looks the same",
            List.of("R", 99.0, "R", 24.0)),
        Arguments.of(
            "rank 1 computes or waits in NCCL, which looks the same, the other waits",
            List.of("S", 0.0, "R", 98.0)),
        Arguments.of(
            "rank 1 waits for a disk or a network file system", List.of("R", 99.0, "D", 0.0)));
  }

  @ParameterizedTest
  @MethodSource("processes")
  void withoutStacksTheKernelTells(String text, List<Object> of) {
    Explanation found =
        of(
            node(
                0,
                5,
                unseen(0, (String) of.get(0), (Double) of.get(1), "none", ""),
                unseen(1, (String) of.get(2), (Double) of.get(3), "none", "")));

    assertEquals(Code.NO_STACKS, found.code());
    assertEquals(
        RUN.strip()
            + ": "
            + text
            + ". Where in their code is not known, because py-spy is not there",
        found.text());
    assertEquals(
        List.of(
            "gpush exec --all -- /envs/llm/bin/python -m pip install py-spy, then gpush why again:"
                + " the ranks need not start again"),
        found.remedies());
  }

  @Test
  void missingRightsAreNamedWithHowToGetThem() {
    Explanation found =
        of(node(0, 60, unseen(0, "S", 0, "denied", "Permission Denied: Try running again")));

    assertTrue(found.text().endsWith("needs ptrace rights, which are missing"), found.text());
    assertTrue(found.remedies().getFirst().contains("ptrace_scope is 1"), "" + found.remedies());
    assertTrue(found.remedies().getFirst().contains("SYS_PTRACE"), "" + found.remedies());
    assertTrue(
        found
            .evidence()
            .contains(
                new Evidence(
                    "rank 0: asleep, 0% of a processor",
                    List.of("py-spy: Permission Denied: Try running again"))),
        "" + found.evidence());
  }

  @Test
  void theAnswerIsFoundedOnStacksAndOnSilence() {
    Json odd = with(batch(2), "state", "D", "wait", "rpc_wait_bit_killable");
    Explanation found =
        of(node(0, 660, reduce(0), reduce(1)), node(1, 720, odd, with(reduce(3), "cpu", 98.7)));

    assertEquals(
        List.of(
            Evidence.of("it has printed nothing for 11m"),
            new Evidence(
                "ranks 0, 1, 3: asleep, 0% to 99% of a processor",
                List.of(
                    "all_reduce (torch/distributed/distributed_c10d.py:81)",
                    "wrapper (torch/distributed/c10d_logger.py:81)",
                    "step (train.py:42)")),
            new Evidence(
                "rank 2 (node 1, pid 102): waiting for a disk in rpc_wait_bit_killable, 0% of a"
                    + " processor",
                List.of("Event.wait (threading.py:81)", "load_batch (data.py:17)"))),
        found.evidence());
    assertEquals(
        List.of(
            "look at data.py:17, where rank 2 is: the others cannot go on before that",
            "gpush exec --on 1 -- df -h .",
            "gpush logs 7 --rank 2",
            "gpush stop 7"),
        found.remedies());
  }

  @Test
  void ofAStackTheOwnCallsAreShownAndOfDataLoadersEachStackOnce() {
    Json deep =
        rank(
            0,
            library("a", "x.py"),
            library("b", "x.py"),
            library("c", "x.py"),
            library("next", "torch/utils/data/dataloader.py"),
            own("step", "train.py", 9),
            library("run", "lightning.py"),
            own("<module>", "train.py", 17),
            library("main", "run.py"));
    Json reads = Json.object("pid", 5, "frames", List.of(own("read", "data.py", 3)));
    Json parses = Json.object("pid", 6, "frames", List.of(own("parse", "data.py", 8)));
    List<Json> workers = List.of(reads, parses, ((Json.Obj) reads).with("pid", 7));
    Explanation found = of(node(0, 60, with(deep, "workers", Json.array(workers))));

    assertEquals(
        List.of(
            "a (x.py:81)",
            "b (x.py:81)",
            "… 2 more",
            "step (train.py:9)",
            "… 1 more",
            "<module> (train.py:17)",
            "2 processes of data loaders, such as 5:",
            "  read (data.py:3)",
            "its data loader's process 6:",
            "  parse (data.py:8)"),
        found.evidence().get(1).below());
  }

  @Test
  void ofARunThatPrintsOnlyTheLookIsSaid() {
    Explanation found = of(node(0, 2, reduce(0), reduce(1), reduce(2), reduce(3)));

    assertEquals(
        RUN + "did not move for 1.1s: all 4 ranks wait in all_reduce at train.py:42", found.text());
    assertEquals(Evidence.of("it printed something 2.0s ago"), found.evidence().getFirst());
  }

  @Test
  void aNodeThatDoesNotAnswerIsNamedAndTheOthersAreLookedAt() {
    NodeStacks silent = NodeStacks.silent(info(1), "its link is cut");
    Explanation found = of(node(0, 660, reduce(0), reduce(1)), silent);

    assertEquals(Code.SAME_PLACE, found.code());
    assertTrue(found.evidence().contains(Evidence.of("node 1 (gpu01): its link is cut")));
    assertEquals(Code.UNREACHABLE, of(silent).code());
    assertEquals(Code.STARTING, of(node(0, 1)).code());
    assertEquals(Code.STARTING, of(node(0, 1), silent).code());
  }

  @Test
  void gpusThatWaitWhileProcessorsAreFullWaitForData() {
    Json gpu = Json.object("gpu", "0", "util", 12, "throttled", List.of());
    Json full =
        with(
            TopFixture.node(List.of(gpu), List.of()),
            "cpu",
            Json.object("percent", 97.2, "count", 8));
    List<NodeReading> readings =
        List.of(TopFixture.reading(0, Optional.of(full), Duration.ZERO, "up", ""));

    Explanation found = of(SUBJECT, readings, node(0, 3, moved(batch(0)), batch(1)));

    assertEquals(
        RUN + "waits for data: on node 0 the processors are 97% busy and its GPUs 12%",
        found.text());
  }

  @Test
  void aGpuThatIsSlowedDownStandsOut() {
    Json gpu = Json.object("gpu", "1", "util", 98, "throttled", List.of("hw-thermal"));
    List<NodeReading> readings =
        List.of(
            TopFixture.reading(
                0, Optional.of(TopFixture.node(List.of(gpu), List.of())), Duration.ZERO, "up", ""));

    Explanation found = of(SUBJECT, readings, node(0, 3, moved(batch(0)), batch(1)));

    assertEquals(RUN + "works, but node 0 gpu 1: slowed down by heat", found.text());
    assertEquals(Code.STANDS_OUT, found.code());
  }

  @Test
  void ranksStartedByHandAreOnesOfNoRun() {
    NodeStacks node = node(0, 0, reduce(0), batch(1));
    Explanation found = of(Subject.byHand(List.of(node)), List.of(), node);

    assertEquals(
        "the 2 ranks that were started by hand did not move for 1.1s: rank 0 waits in all_reduce at"
            + " train.py:42; rank 1 is in load_batch at data.py:17",
        found.text());
    assertEquals(
        List.of("look at data.py:17, where rank 1 is: the others cannot go on before that"),
        found.remedies());
  }

  @Test
  void namesOfCollectivesCountInTheirLibrariesOnly() {
    Json pipe =
        rank(0, library("Connection.recv", "multiprocessing/connection.py"), own("f", "x.py", 1));
    Json object =
        rank(
            0,
            library("all_gather", "torch/distributed/distributed_c10d.py"),
            library("all_gather_object", "torch/distributed/distributed_c10d.py"),
            own("f", "x.py", 1));

    assertEquals("f", spot(pipe).name());
    assertEquals("all_gather_object", spot(object).name());
    assertEquals("poll", spot(rank(0, library("poll", "selectors.py"))).name());
  }

  private static RankSpot spot(Json rank) {
    return StackGroup.of(List.of(node(0, 1, rank))).getFirst().spot();
  }

  @Test
  void ofManyRanksTheFewAreNamed() {
    List<Json> ranks = WhyFixture.each(0, 64, number -> number == 41 ? batch(41) : reduce(number));
    Subject many = new Subject("run 7", Optional.of(7), 64, "");

    assertEquals(
        "run 7 stands still: 63 of 64 ranks wait in all_reduce at train.py:42; rank 41 is in"
            + " load_batch at data.py:17",
        of(many, List.of(), node(0, 60, ranks.toArray(new Json[0]))).text());
  }
}
