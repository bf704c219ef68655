package dev.gpush.shell.why;

import static dev.gpush.shell.why.WhyFixture.inCode;
import static dev.gpush.shell.why.WhyFixture.moved;
import static dev.gpush.shell.why.WhyFixture.node;
import static dev.gpush.shell.why.WhyFixture.stepping;
import static dev.gpush.shell.why.WhyFixture.unseen;
import static dev.gpush.shell.why.WhyFixture.waiting;
import static dev.gpush.shell.why.WhyFixture.with;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunTransport;
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
import org.junit.jupiter.api.Test;

/** Causes that lie outside of the code of ranks. */
final class StorageAndNetworkTest {
  private static final String RUN = "run 7 (train.py, 4 ranks, 12m) ";

  private static final RunTransport TCP =
      new RunTransport(
          "TCP over eth0",
          "400G InfiniBand is there",
          "NCCL finds no RDMA device",
          "gpush check --plan",
          new RunTransport.Evidence("nccl", false, ""));

  private static final String NETWORK =
      "its network is TCP over eth0, although 400G InfiniBand is there: NCCL finds no RDMA device";

  private static Explanation of(Optional<RunTransport> network, NodeStacks node) {
    var subject =
        new Subject(RUN.strip(), Optional.of(7), 4, new Start("python3", true, List.of(), network));
    var picture =
        new TopPicture("devbox", Duration.ofSeconds(1), Instant.EPOCH, List.of(), List.of());
    var commands = new SessionCommands(Optional.of("devbox"));
    Explanation found = new RunExplanation(subject, commands, List.of(node), picture).explain();
    PlainEnglish.check(found.text());
    found.remedies().forEach(PlainEnglish::check);
    return found;
  }

  private static Explanation of(NodeStacks node) {
    return of(Optional.empty(), node);
  }

  private static Json reading(int rank) {
    return with(inCode(rank, "load", "data.py", 17), "state", "D");
  }

  private static Json reduce(int rank) {
    return waiting(rank, "all_reduce", "train.py", 42);
  }

  @Test
  void halfOfTheRanksInADiskWaitAreTheAnswer() {
    Explanation found = of(node(0, 660, reading(0), reduce(1), reading(2), reduce(3)));

    assertEquals(Code.STORAGE, found.code());
    assertEquals(
        RUN
            + "stands still: ranks 0, 2 wait for a disk or a network file system; 2 of 4 ranks wait"
            + " in all_reduce at train.py:42; ranks 0, 2 are in load at data.py:17",
        found.text());
    assertEquals(
        List.of(
            "gpush exec -s devbox --on 0 -- df -h .",
            "data on a local disk: gpush cp -s devbox",
            "gpush top -s devbox"),
        found.remedies());
  }

  @Test
  void aFewInADiskWaitAreNot() {
    assertEquals(
        Code.RANK_APART, of(node(0, 660, reduce(0), reduce(1), reading(2), reduce(3))).code());
    assertEquals(
        Code.WORKING,
        of(node(0, 3, moved(reading(0)), moved(reading(1)), moved(reading(2)), reading(3))).code(),
        "they read, and each look sees something else");
  }

  @Test
  void whileOthersMoveItIsSaidOfThisMoment() {
    Json moves = moved(inCode(3, "load", "data.py", 17));

    assertEquals(
        RUN
            + "works; at this moment ranks 0-2 wait for a disk or a network file system; all 4"
            + " ranks are in load at data.py:17",
        of(node(0, 3, reading(0), reading(1), reading(2), moves)).text());
  }

  @Test
  void withoutStacksItIsTheSameAnswer() {
    Explanation found =
        of(
            node(
                0,
                3,
                unseen(0, "D", 0, "none", ""),
                unseen(1, "D", 0, "none", ""),
                unseen(2, "S", 0, "none", ""),
                unseen(3, "S", 0, "none", "")));

    assertEquals(Code.STORAGE, found.code());
    assertEquals(
        RUN.strip()
            + ": ranks 0, 1 wait for a disk or a network file system. Where in their code is not"
            + " known, because py-spy is not there",
        found.text());
  }

  private static NodeStacks steps(Object slow, double median) {
    Json code = moved(inCode(0, "step", "train.py", 9));
    Json earlier = Json.object("run", 5, "rate", 12.34, "same_files", true);
    Json steps = TopFixture.progress(1200, 0.3, 4.03, median, slow);
    return stepping(
        node(0, 0.3, code, reduce(1), moved(reading(2)), moved(reading(3))),
        with(steps, "earlier", List.of(earlier)));
  }

  @Test
  void aFasterNetworkThatIsNotUsedIsTheAnswerOfARunThatWasSlowFromTheBeginning() {
    Explanation found = of(Optional.of(TCP), steps(new Json.Null(), 4.1));

    assertEquals(Code.SLOW_NETWORK, found.code());
    assertEquals(
        RUN
            + "is slow: 4.03 steps/s, 67% slower than the 12.3 steps/s of run 5, which had the"
            + " same files and arguments; "
            + NETWORK,
        found.text());
    assertEquals("gpush check -s devbox --plan", found.remedies().getFirst());
  }

  /** It had the same network before. */
  @Test
  void ofOneThatBecameSlowItIsEvidence() {
    Explanation found = of(Optional.of(TCP), steps(190, 12.1));

    assertEquals(Code.SLOW, found.code());
    assertTrue(found.evidence().contains(Evidence.of(NETWORK)), "" + found.evidence());
    assertEquals("gpush check -s devbox --plan", found.remedies().getLast());
  }

  @Test
  void aNetworkThatIsAsGoodAsExpectedIsNotNamed() {
    var good = new RunTransport("8 rails of 400G InfiniBand", "", "", "", TCP.evidence());

    Explanation found = of(Optional.of(good), steps(new Json.Null(), 4.1));

    assertEquals(Code.SLOW, found.code());
    assertTrue(
        found.evidence().stream().noneMatch(each -> each.text().contains("network")),
        "" + found.evidence());
  }
}
