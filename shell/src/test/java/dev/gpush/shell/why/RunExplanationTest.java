package dev.gpush.shell.why;

import static dev.gpush.shell.why.WhyFixture.inCode;
import static dev.gpush.shell.why.WhyFixture.info;
import static dev.gpush.shell.why.WhyFixture.library;
import static dev.gpush.shell.why.WhyFixture.loading;
import static dev.gpush.shell.why.WhyFixture.moved;
import static dev.gpush.shell.why.WhyFixture.node;
import static dev.gpush.shell.why.WhyFixture.once;
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
import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.top.TopFixture;
import dev.gpush.shell.top.TopPicture;
import dev.gpush.shell.why.Explanation.Code;
import dev.gpush.shell.why.Explanation.Evidence;
import dev.gpush.shell.why.RunExplanation.Start;
import dev.gpush.shell.why.RunExplanation.Subject;
import dev.gpush.testkit.fixture.PlainEnglish;
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
      new Subject(
          "run 7 (train.py, 4 ranks, 12m)",
          Optional.of(7),
          4,
          new Start("/envs/llm/bin/python", true, List.of(), Optional.empty()));

  private static final String RUN = "run 7 (train.py, 4 ranks, 12m) ";

  private static final String CALL = ". A collective waits until all ranks of its group call it";

  private static Start on(List<Integer> nodes) {
    return new Start("", true, nodes, Optional.empty());
  }

  private static Json reduce(int rank) {
    return waiting(rank, "all_reduce", "train.py", 42);
  }

  private static Json batch(int rank) {
    return inCode(rank, "load_batch", "data.py", 17);
  }

  /** In a call that computes, or that spins while it waits for a GPU. */
  private static Json backward(int rank) {
    return with(inCode(rank, "backward", "train.py", 50), "state", "R", "cpu", 98.7);
  }

  private static Json ended(int rank) {
    return unseen(rank, "ended", 0, "failed", "");
  }

  private static Explanation of(NodeStacks... nodes) {
    return of(SUBJECT, List.of(), nodes);
  }

  private static Explanation of(Subject subject, List<NodeReading> readings, NodeStacks... nodes) {
    var picture =
        new TopPicture(
            "devbox", Duration.ofSeconds(1), Instant.EPOCH, readings, List.of(TopFixture.run()));
    var commands = new SessionCommands(Optional.empty());
    Explanation found = new RunExplanation(subject, commands, List.of(nodes), picture).explain();
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
            Code.PLACES_DIFFER,
            "stands still: rank 0 waits in barrier at train.py:9; ranks 1-3 are in load_batch at data.py:17"
                + CALL,
            List.of(waiting(0, "barrier", "train.py", 9), batch(1), batch(2), batch(3))),
        Arguments.of(
            Code.PLACES_DIFFER,
            "stands still: 2 of 4 ranks wait in all_reduce at train.py:42; ranks 2, 3 are in load_batch at data.py:17"
                + CALL,
            List.of(reduce(0), reduce(1), batch(2), batch(3))),
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
            Code.PLACES_DIFFER,
            "stands still: 3 of 4 ranks wait in broadcast at train.py:50; rank 0 waits in broadcast at train.py:49",
            List.of(
                waiting(0, "broadcast", "train.py", 49),
                waiting(1, "broadcast", "train.py", 50),
                waiting(2, "broadcast", "train.py", 50),
                waiting(3, "broadcast", "train.py", 50))),
        Arguments.of(
            Code.PLACES_DIFFER,
            "stands still: 2 of 4 ranks wait in recv at pipe.py:5; rank 0 waits in send at pipe.py:3; rank 3 is in load_batch at data.py:17",
            List.of(
                waiting(0, "send", "pipe.py", 3),
                waiting(1, "recv", "pipe.py", 5),
                waiting(2, "recv", "pipe.py", 5),
                batch(3))),
        Arguments.of(
            Code.PARTLY_SEEN,
            "did not move as far as it was seen: 2 of 4 ranks wait in all_reduce at train.py:42; ranks 2, 3 were not seen",
            List.of(reduce(0), reduce(1))),
        Arguments.of(
            Code.PARTLY_SEEN,
            "did not move as far as it was seen: 2 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in load_batch at data.py:17; rank 3 was not seen",
            List.of(reduce(0), reduce(1), batch(2), unseen(3, "S", 0, "late", ""))),
        Arguments.of(
            Code.PARTLY_SEEN,
            "did not move as far as it was seen: 3 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in load_batch at data.py:17; rank 3 was seen only once",
            List.of(reduce(0), reduce(1), batch(2), once(reduce(3)))),
        Arguments.of(
            Code.PARTLY_SEEN,
            "was seen only once: all 4 ranks wait in all_reduce at train.py:42",
            List.of(once(reduce(0)), once(reduce(1)), once(reduce(2)), once(reduce(3)))),
        Arguments.of(
            Code.PARTLY_SEEN,
            "did not move as far as it was seen: the process on node 0 is in poll at run.py:3; ranks 0-3 were not seen",
            List.of(with(inCode(0, "poll", "run.py", 3), "rank", new Json.Null()))),
        Arguments.of(
            Code.SAME_PLACE,
            "did not move for 1.1s: all 4 ranks are in backward at train.py:50",
            List.of(backward(0), backward(1), backward(2), backward(3))),
        Arguments.of(
            Code.RANK_APART,
            "did not move for 1.1s: 3 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in backward at train.py:50",
            List.of(reduce(0), reduce(1), backward(2), reduce(3))),
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
            "moves and has printed nothing for 11m; at this moment 3 of 4 ranks wait for the data loader at train.py:30; rank 3 is in load_batch at data.py:17",
            List.of(loading(0), moved(loading(1)), loading(2), batch(3))),
        Arguments.of(
            Code.BEHIND,
            "moves and has printed nothing for 11m; at this moment 3 of 4 ranks wait in all_reduce at train.py:42; rank 2 is in load_batch at data.py:17",
            List.of(reduce(0), reduce(1), moved(batch(2)), reduce(3))),
        Arguments.of(
            Code.RANK_GONE,
            "stands still: 3 of 4 ranks wait in all_reduce at train.py:42; rank 2 was stopped by a signal (SIGSTOP, a debugger or Ctrl-Z)",
            List.of(reduce(0), reduce(1), with(batch(2), "state", "T"), reduce(3))),
        Arguments.of(
            Code.RANK_GONE,
            "stands still: 2 of 4 ranks wait in all_reduce at train.py:42; rank 3 was stopped by a signal (SIGSTOP, a debugger or Ctrl-Z); rank 2 has ended",
            List.of(
                reduce(0), reduce(1), with(batch(2), "state", "Z"), with(batch(3), "state", "T"))),
        Arguments.of(
            Code.RANK_GONE,
            "stands still: 3 of 4 ranks wait in all_reduce at train.py:42; rank 3 has finished",
            List.of(reduce(0), reduce(1), reduce(2), ended(3))),
        Arguments.of(
            Code.WORKING,
            "moves and has printed nothing for 11m: ranks 0-2 moved while gpush looked",
            List.of(moved(batch(0)), moved(batch(1)), moved(batch(2)), ended(3))),
        Arguments.of(
            Code.STANDS_OUT,
            "moves and has printed nothing for 11m, but rank 2 was stopped by a signal (SIGSTOP, a debugger or Ctrl-Z)",
            List.of(
                moved(batch(0)), moved(batch(1)), with(batch(2), "state", "T"), moved(batch(3)))),
        Arguments.of(
            Code.PARTLY_SEEN,
            "did not move as far as it was seen: rank 0 waits in all_reduce at train.py:42; rank 2 was stopped by a signal (SIGSTOP, a debugger or Ctrl-Z); ranks 1, 3 were not seen",
            List.of(reduce(0), with(batch(2), "state", "T"))),
        Arguments.of(
            Code.STARTING,
            "has no process now: it starts or ends",
            List.of(ended(0), ended(1), ended(2), ended(3))));
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
            "gpush exec --all -- /envs/llm/bin/python -m pip install py-spy, then gpush why 7 again:"
                + " the ranks need not start again"),
        found.remedies());
  }

  @Test
  void withoutStacksTheRanksThatAreGoneAreNamed() {
    Explanation found =
        of(
            node(
                0,
                5,
                unseen(0, "S", 0, "none", ""),
                unseen(1, "T", 0, "none", ""),
                unseen(2, "S", 0, "none", ""),
                ended(3)));

    assertEquals(
        RUN.strip()
            + ": rank 1 was stopped by a signal (SIGSTOP, a debugger or Ctrl-Z); rank 3 has"
            + " finished; 2 of 4 ranks wait, none computes. Where in their code is not known,"
            + " because py-spy is not there",
        found.text());
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
  void withoutStacksTheRankThatWaitsElsewhereComesFirst() {
    Json all = with(unseen(0, "S", 0, "none", ""), "wait", "futex_do_wait");
    Json odd = with(unseen(1, "S", 0, "none", ""), "wait", "hrtimer_nanosleep");
    Json busier = with(unseen(2, "S", 2, "none", ""), "wait", "futex_do_wait");

    assertEquals(
        List.of(
            Evidence.of("it printed something 5.0s ago"),
            Evidence.of("rank 1: asleep in hrtimer_nanosleep, 0% of a processor"),
            Evidence.of("ranks 0, 2: asleep in futex_do_wait, 0% to 2% of a processor")),
        of(node(0, 5, all, odd, busier)).evidence());
  }

  @Test
  void theAnswerIsFoundedOnStacksAndOnSilence() {
    Json odd = with(batch(2), "state", "D", "wait", "rpc_wait_bit_killable");
    Explanation found =
        of(node(0, 660, reduce(0), reduce(1)), node(1, 720, odd, with(reduce(3), "cpu", 12.7)));

    assertEquals(
        List.of(
            Evidence.of("it has printed nothing for 11m"),
            new Evidence(
                "ranks 0, 1, 3: asleep, 0% to 13% of a processor",
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
            "look at data.py:17, where rank 2 is: all_reduce waits until all ranks of its group call it",
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

    assertEquals(Code.PARTLY_SEEN, found.code());
    assertEquals(List.of("node 1 (gpu01): its link is cut"), lines(found, "node 1"));
    assertEquals(List.of(), lines(found, "it has printed"));
    assertEquals(
        List.of("gpush why 7 looks at all of them again", "gpush nodes"), found.remedies());
    assertEquals(Code.UNREACHABLE, of(silent).code());
    assertEquals(Code.STARTING, of(node(0, 1)).code());
    assertEquals(
        RUN + "has no process on the nodes that answer; not seen: node 1",
        of(node(0, 1), silent).text());
  }

  private static List<String> lines(Explanation found, String begin) {
    return found.evidence().stream()
        .map(Evidence::text)
        .filter(text -> text.startsWith(begin))
        .toList();
  }

  @Test
  void onlyNodesOfTheRunCount() {
    var subject = new Subject(RUN.strip(), Optional.of(7), 1, on(List.of(1)));
    NodeStacks silent = NodeStacks.silent(info(1), "its link is cut");

    Explanation found = of(subject, List.of(), node(0, 1), silent);

    assertEquals(RUN + "cannot be looked at: no node of it answers", found.text());
    assertEquals(Code.UNREACHABLE, found.code());
  }

  @Test
  void aSecondCollectiveIsNotTakenForTheRankThatIsAwaited() {
    List<Json> ranks =
        WhyFixture.each(
            0,
            8,
            number ->
                number < 5
                    ? reduce(number)
                    : number < 7 ? waiting(number, "broadcast", "train.py", 50) : batch(number));
    Subject eight = new Subject("run 7", Optional.of(7), 8, Start.unknown());

    Explanation found = of(eight, List.of(), node(0, 60, ranks.toArray(new Json[0])));

    assertEquals(
        "run 7 stands still: 5 of 8 ranks wait in all_reduce at train.py:42; ranks 5, 6 wait in"
            + " broadcast at train.py:50; rank 7 is in load_batch at data.py:17",
        found.text());
    assertEquals(
        "look at data.py:17, where rank 7 is: all_reduce waits until all ranks of its group call it",
        found.remedies().getFirst());
  }

  private static NodeStacks steps(NodeStacks node, double rate, double median, Object slow) {
    Json earlier = Json.object("run", 5, "rate", 12.34, "same_files", true);
    return WhyFixture.stepping(
        node,
        with(TopFixture.progress(1200, 0.3, rate, median, slow), "earlier", List.of(earlier)));
  }

  @Test
  void stepsThatAreSlowerThanBeforeAreSlow() {
    NodeStacks works = node(0, 0.3, moved(batch(0)), batch(1), batch(2), batch(3));
    Explanation slow = of(steps(works, 4.03, 12.1, 190));

    assertEquals(Code.SLOW, slow.code());
    assertEquals(
        RUN + "is slow: 4.03 steps/s for 3m10s, 67% slower than its median of 12.1 steps/s",
        slow.text());
    assertEquals(
        List.of(
            "it printed something 0.3s ago",
            "its newest step is 1200/5000",
            "earlier, with the same arguments: run 5 made 12.3 steps/s"),
        slow.evidence().stream().map(Evidence::text).limit(3).toList());
    assertEquals(
        RUN
            + "is slow: 4.03 steps/s, 67% slower than the 12.3 steps/s of run 5, which had the"
            + " same files and arguments",
        of(steps(works, 4.03, 4.1, new Json.Null())).text());
  }

  @Test
  void withoutStacksWhatWasSeenOfASlowRunIsSaid() {
    NodeStacks blind = node(0, 0.3, unseen(0, "R", 98, "none", ""), unseen(1, "D", 0, "none", ""));
    Explanation slow = of(steps(blind, 0.33, 1.0, 190));

    assertEquals(Code.SLOW, slow.code());
    assertEquals(
        RUN
            + "is slow: 3.03s/step for 3m10s, 67% slower than its median of 1.00s/step; rank 1 waits"
            + " for a disk or a network file system. Where in their code is not known, because"
            + " py-spy is not there",
        slow.text());
    assertEquals(
        "gpush top shows clocks, temperatures, and what else uses the nodes",
        slow.remedies().getFirst());
    assertTrue(slow.remedies().get(1).contains("pip install py-spy"), "" + slow.remedies());
    Json gpu = Json.object("gpu", "0", "util", 98, "throttled", List.of("hw-thermal"));
    Explanation hot =
        of(
            SUBJECT,
            List.of(
                TopFixture.reading(
                    0,
                    Optional.of(TopFixture.node(List.of(gpu), List.of())),
                    Duration.ZERO,
                    "up",
                    "")),
            steps(blind, 0.33, 1.0, 190));
    assertEquals(Code.STANDS_OUT, hot.code());
    assertTrue(hot.text().contains("1.00s/step; node 0 gpu 0"), hot.text());
    assertTrue(hot.text().contains("; rank 1 waits for a disk"), hot.text());
  }

  @Test
  void anEarlierRunWithOtherFilesAccusesNothing() {
    NodeStacks works = node(0, 0.3, moved(batch(0)), batch(1), batch(2), batch(3));
    Json other = Json.object("run", 5, "rate", 12.34, "same_files", false);
    Json steps =
        with(TopFixture.progress(1200, 0.3, 4.03, 4.1, new Json.Null()), "earlier", List.of(other));
    Explanation found = of(WhyFixture.stepping(works, steps));

    assertEquals(Code.WORKING, found.code());
    assertEquals(
        "earlier, with the same arguments: run 5 made 12.3 steps/s, with other files",
        found.evidence().get(2).text());
  }

  @Test
  void theCauseOfSlownessIsTheVerdictWhereItIsSeen() {
    NodeStacks waits = node(0, 0.3, moved(loading(0)), loading(1), loading(2), batch(3));
    Explanation loader = of(steps(waits, 4.03, 12.1, 190));
    assertEquals(Code.LOADER_BOUND, loader.code());
    assertTrue(loader.text().startsWith(RUN + "is slow: 4.03 steps/s for 3m10s"), loader.text());

    NodeStacks apart = node(0, 4, reduce(0), reduce(1), batch(2), reduce(3));
    Explanation slow = of(steps(apart, 0.1, 1.0, 190));
    assertEquals(Code.SLOW, slow.code());
    assertTrue(
        slow.text()
            .endsWith(
                "; at this moment "
                    + "3 of 4 ranks wait in all_reduce at train.py:42;"
                    + " rank 2 is in load_batch at data.py:17"),
        slow.text());
  }

  @Test
  void aSteadyRunAndOneWhoseStepsHaveStoppedAreNotSlow() {
    NodeStacks works = node(0, 0.3, moved(batch(0)), batch(1), batch(2), batch(3));

    Explanation steady = of(steps(works, 12.0, 12.1, new Json.Null()));
    assertEquals(Code.WORKING, steady.code());
    assertEquals(
        "step 1200/5000, 12.0 steps/s, the same as its median", steady.evidence().get(1).text());
    Explanation stopped =
        of(WhyFixture.stepping(works, TopFixture.progress(1200, 240, 0, 12, new Json.Null())));
    assertEquals(Code.WORKING, stopped.code());
    assertEquals("its last step, 1200/5000, was printed 4m ago", stopped.evidence().get(1).text());
    // Slower than an earlier one only at this moment.
    assertEquals(Code.WORKING, of(steps(works, 4.0, 12.1, new Json.Null())).code());
    NodeStacks hangs = node(0, 660, reduce(0), reduce(1), batch(2), reduce(3));
    assertEquals(Code.RANK_APART, of(steps(hangs, 0.1, 1.0, 190)).code());
  }

  @Test
  void aRunWhoseStepsComeWorksThoughNoStackChanges() {
    NodeStacks sleeps = node(0, 0.3, backward(0), backward(1), backward(2), backward(3));
    Explanation steady = of(steps(sleeps, 12.0, 12.1, new Json.Null()));
    assertEquals(Code.WORKING, steady.code());
    assertEquals(
        RUN + "works; at this moment all 4 ranks are in backward at train.py:50", steady.text());

    NodeStacks loads = node(0, 0.3, loading(0), loading(1), loading(2), batch(3));
    assertEquals(Code.LOADER_BOUND, of(steps(loads, 12.0, 12.1, new Json.Null())).code());
    Json late = TopFixture.progress(1200, 4, 1.99, 1.99, new Json.Null());
    assertEquals(Code.SAME_PLACE, of(WhyFixture.stepping(sleeps, late)).code());
    Json slow = TopFixture.progress(1200, 4, 0.3, 0.3, new Json.Null());
    assertEquals(Code.WORKING, of(WhyFixture.stepping(sleeps, slow)).code());
    Json slower = TopFixture.progress(1200, 12, 0.08, 0.08, new Json.Null());
    NodeStacks silent = node(0, 12, backward(0), backward(1), backward(2), backward(3));
    assertEquals(steady.text(), of(WhyFixture.stepping(silent, slower)).text());
  }

  @Test
  void thatItStandsIsSaidOnlyIfEachNodeTellsThatNothingWasPrinted() {
    NodeStacks first = node(0, 660, reduce(0), reduce(1));
    NodeStacks second = node(1, 660, reduce(2), reduce(3));
    NodeStacks untold =
        new NodeStacks(
            info(1),
            second.ranks(),
            Optional.empty(),
            Optional.empty(),
            second.looked(),
            second.ptraceScope(),
            second.problem());

    Explanation stands = of(first, second);
    assertEquals(
        RUN + "stands still: all 4 ranks wait in all_reduce at train.py:42", stands.text());
    assertEquals(
        List.of(
            "all ranks are there, so the network or a GPU may not answer",
            "gpush stop 7, then gpush check --level 2"),
        stands.remedies());
    Explanation unknown = of(first, untold);
    assertEquals(
        RUN + "did not move for 1.1s: all 4 ranks wait in all_reduce at train.py:42",
        unknown.text());
    assertEquals(
        List.of(
            "all ranks are there: if they still are later, the network or a GPU may not answer",
            "gpush why 7 in a minute: a long step has gone on by then"),
        unknown.remedies());
  }

  @Test
  void aLoaderThatStandsNeedsNoMoreProcesses() {
    Explanation found = of(node(0, 660, loading(0), loading(1), loading(2), loading(3)));

    assertEquals(
        List.of(
            "look at the processes of the data loader, which are shown below the stack",
            "gpush logs 7 --rank 0"),
        found.remedies());
  }

  @Test
  void commandsNameTheSessionThatTheUserHasNamed() {
    var picture =
        new TopPicture("devbox", Duration.ofSeconds(1), Instant.EPOCH, List.of(), List.of());
    var commands = new SessionCommands(Optional.of("devbox"));
    List<NodeStacks> nodes =
        List.of(node(0, 660, reduce(0), reduce(1), with(batch(2), "state", "D"), reduce(3)));

    assertEquals(
        List.of(
            "gpush exec -s devbox --on 0 -- df -h .",
            "gpush logs -s devbox 7 --rank 2",
            "gpush stop -s devbox 7"),
        new RunExplanation(SUBJECT, commands, nodes, picture)
            .explain().remedies().stream().skip(1).toList());
  }

  @Test
  void ofProcessesWithoutNumbersTheNodesAreNamed() {
    assertEquals("the process on node 0", StackGroup.names(launchers(node(0, 1, launcher()))));
    assertEquals(
        "the processes on node 0", StackGroup.names(launchers(node(0, 1, launcher(), launcher()))));
    assertEquals(
        "the processes on nodes 0 and 1",
        StackGroup.names(launchers(node(0, 1, launcher()), node(1, 1, launcher()))));
  }

  private static List<StackGroup.Member> launchers(NodeStacks... nodes) {
    return StackGroup.members(List.of(nodes));
  }

  private static Json launcher() {
    return with(batch(0), "rank", new Json.Null());
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
        RUN
            + "works, but on node 0 the processors are 97% busy and its GPUs 12%: they may wait for"
            + " data",
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
            + " train.py:42; rank 1 is in load_batch at data.py:17"
            + CALL,
        found.text());
    assertEquals(
        List.of(
            "compare train.py:42 with data.py:17: which ranks are expected there?",
            "gpush why in a minute: a long step has gone on by then"),
        found.remedies());
    assertEquals(
        "the 2 ranks that were started by hand did not move as far as they were seen: rank 0 waits"
            + " in all_reduce at train.py:42; rank 1 is in load_batch at data.py:17; node 1 does"
            + " not answer",
        of(
                Subject.byHand(List.of(node)),
                List.of(),
                node,
                NodeStacks.silent(info(1), "its link is cut"))
            .text());
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
    return StackGroup.ofNodes(List.of(node(0, 1, rank))).getFirst().spot();
  }

  @Test
  void ofManyRanksTheFewAreNamed() {
    List<Json> ranks = WhyFixture.each(0, 64, number -> number == 41 ? batch(41) : reduce(number));
    Subject many = new Subject("run 7", Optional.of(7), 64, on(List.of()));

    assertEquals(
        "run 7 stands still: 63 of 64 ranks wait in all_reduce at train.py:42; rank 41 is in"
            + " load_batch at data.py:17",
        of(many, List.of(), node(0, 60, ranks.toArray(new Json[0]))).text());
  }
}
