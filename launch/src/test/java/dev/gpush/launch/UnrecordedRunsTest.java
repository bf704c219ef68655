package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs whose record cannot be written, or whose start or watch meets what it does not expect. */
final class UnrecordedRunsTest {
  private static final String OK =
      "{\"exit\": 0, \"signal\": null, \"first\": null, \"stopped\": false}";
  private static final String MISSED =
      "another attempt has ended meanwhile: gpush logs -s devbox 1 shows what is kept of the output";

  private static final String KILL = "stop 1 KILL another node could not start";

  private static final AgentFailure CUT = new AgentFailure.LinkOver(1, "the test cut it");

  @TempDir private Path folder;
  private final List<FakeNode> nodes = List.of(new FakeNode(), new FakeNode());
  private final FakeTalk talk = new FakeTalk();
  private final FakeOutput output = new FakeOutput();
  private Tasks tasks;
  private Launcher launcher;

  @BeforeEach
  void open() throws IOException {
    tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
    launcher = launcher();
    Files.writeString(folder.resolve("train.py"), "print(1)\n");
  }

  @AfterEach
  void close() {
    launcher.close();
    tasks.close();
  }

  private Launcher launcher() {
    LaunchSite site = FakeNode.site(nodes, folder, Optional.empty());
    return new Launcher(site, new FabricPlanner(List::of), Clock.system(), tasks);
  }

  private RunView launch(String... words) throws InterruptedException {
    return launch(Asked.run(folder, words));
  }

  private RunView launch(RunRequest request) throws InterruptedException {
    var input =
        new LaunchInput(
            42, Optional.empty(), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual());
    return launcher.launch(request, input, new FakeTurn(), talk);
  }

  private Task<Optional<Integer>, RuntimeException> follow(int run) {
    return tasks.fork("follow", () -> launcher.follow(run, FakeOutput.UNTIL_ITS_END, output));
  }

  /** A file where the history's folder was fails as a full disk does. */
  private void fillDisk() throws IOException {
    Path history = folder.resolve("history");
    try (var files = Files.newDirectoryStream(history)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(history);
    Files.createFile(history);
  }

  @Test
  void aFullDiskDoesNotHideTheEndOfARun() throws Exception {
    launch("train.py");
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    for (FakeNode node : nodes) {
      node.awaitCall("follow 1");
    }
    fillDisk();
    nodes.get(1).write(1, Journals.out(1, "b\n"));
    nodes.forEach(node -> node.end(1, OK.replace("\"exit\": 0", "\"exit\": 3")));

    assertEquals(Optional.of(3), status.get());
    assertEquals(RunView.State.FAILED, launcher.find(Optional.of(1)).state());
  }

  @Test
  void aRunThatCannotBeRecordedDoesNotStart() throws Exception {
    launch("true");
    nodes.forEach(node -> node.end(1, OK));
    follow(1).get();
    fillDisk();

    var refused = assertThrows(GpushException.class, () -> launch("true"));
    assertInstanceOf(GatewayFailure.HomeUnusable.class, refused.failure());
    assertEquals(
        List.of("start 1"),
        nodes.getFirst().calls().stream().filter(call -> call.startsWith("start ")).toList());
  }

  @Test
  void aFullDiskDoesNotHideTheRunsOfAnotherLaptop() throws Exception {
    launch("train.py");
    launcher.close();
    fillDisk();
    try (Launcher other = launcher()) {
      other.attach(Set.of(0, 1));
      assertEquals(RunView.State.RUNNING, other.find(Optional.of(1)).state());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"exit\": 99999999999, \"signal\": null, \"stopped\": false}",
        "{\"exit\": 1, \"failures\": [{\"ranks\": [99999999999], \"exit\": 99999999999}]}",
        "{\"exit\": 1, \"first\": {\"rank\": 99999999999, \"exit\": 1},"
            + " \"port_taken\": 99999999999}",
        "{\"exit\": null, \"signal\": 99999999999, \"stopped\": false}"
      })
  void numbersThatNoNodeMaySayEndARunAsFailed(String end) throws Exception {
    launch("train.py");
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    nodes.get(0).end(1, end);
    nodes.get(1).awaitCall("stop 1 TERM node 0 failed");
    nodes.get(1).end(1, "{\"exit\": null, \"signal\": 15, \"stopped\": true}");

    assertNotEquals(Optional.of(0), status.get());
    assertEquals(RunView.State.FAILED, launcher.find(Optional.of(1)).state());
  }

  /** Its command is over then, and no command would find ranks that run on. */
  @Test
  void anInterruptJustAfterItsStartEndsARun() throws Exception {
    nodes.getFirst().interruptKeep();

    assertThrows(InterruptedException.class, () -> launch("train.py"));

    for (FakeNode node : nodes) {
      assertEquals(Json.array(List.of()), node.call("run.list", Json.object()));
    }
    assertEquals(List.of(), launcher.list());
  }

  /** As where its agent is replaced while it is asked. */
  @Test
  void ranksThatAFailedStartCouldNotEndAreEndedLater() throws Exception {
    nodes.getFirst().interruptKeep();
    nodes.getLast().fail("run.stop", CUT);

    assertThrows(InterruptedException.class, () -> launch("train.py"));

    assertTrue(
        talk.said()
            .contains("run 1 may continue on node 1 until gpush can reach it there and end it"),
        talk.said()::toString);
    assertEquals(Optional.of(137), follow(1).get());
    RunView left = launcher.find(Optional.of(1));
    assertEquals(RunView.State.STOPPED, left.state());
    assertEquals(List.of("1:0", "1:1"), left.slots());
  }

  /** Its agent is replaced before it answers, so that it is not known whether they started. */
  @Test
  void ranksOfANodeThatHasNotAnsweredAStartAreEndedLater() throws Exception {
    nodes.getFirst().fail("run.stop", CUT);
    nodes.getLast().cutStart();
    nodes.getLast().fail("run.status", CUT);

    assertThrows(GpushException.class, () -> launch("train.py"));

    assertEquals(Optional.of(137), follow(1).get());
    nodes.forEach(node -> assertTrue(node.calls().contains(KILL), node.calls()::toString));
  }

  @Test
  void ranksOfTheOnlyNodeThatMayHaveStartedThemAreEndedLater() throws Exception {
    nodes.getLast().cutStart();
    nodes.getLast().fail("run.status", CUT);

    assertThrows(GpushException.class, () -> launch("train.py"));

    assertEquals(Optional.of(137), follow(1).get());
    assertEquals(List.of("1:0", "1:1"), launcher.find(Optional.of(1)).slots());
  }

  @Test
  void aStartThatHasNotReachedTheNodeThatDidNotAnswerIsOver() throws Exception {
    nodes.getLast().fail("run.start", CUT);

    assertThrows(GpushException.class, () -> launch("train.py"));

    assertEquals(Optional.empty(), follow(1).get());
    assertEquals(RunView.State.STOPPED, launcher.find(Optional.of(1)).state());
  }

  @Test
  void aStartOnANodeThatIsLostLeavesNothing() {
    nodes.getLast().goAway();

    assertThrows(GpushException.class, () -> launch("train.py"));

    assertEquals(List.of(), launcher.list());
  }

  /** It never was one for the user, so that nothing asks about it or waits for it. */
  @Test
  void whatAFailedStartHasLeftIsNoRunInProgressAndIsEndedByTheNextGateway() throws Exception {
    leaveOnLastNode(100);
    assertEquals(RunView.State.STOPPING, launcher.find(Optional.of(1)).state());
    assertEquals(List.of(), launcher.running());
    launcher.close();
    nodes.getLast().mend();
    launcher = launcher();

    launcher.attach(Set.of(0, 1));

    nodes.getLast().awaitCall(KILL);
    assertEquals(List.of(), launcher.running());
  }

  @Test
  void aNodeThatRefusesToEndWhatAFailedStartHasLeftIsAskedAgain() throws Exception {
    leaveOnLastNode(2);

    assertEquals(Optional.of(137), follow(1).get());
    assertEquals(RunView.State.STOPPED, launcher.find(Optional.of(1)).state());
  }

  /** Nodes that no longer have it were given its number by another laptop. */
  @Test
  void aRunThatHasTheNumberOfWhatAFailedStartHasLeftIsAdoptedAndGoesOn() throws Exception {
    leaveOnLastNode(100);
    launcher.close();
    FakeNode node = nodes.getLast();
    node.mend();
    node.call("run.stop", Json.object("run", 1, "forget", true));
    Json.Obj about = node.specs().getFirst().object("about");
    Json.Obj other =
        about
            .with("started", "2020-01-01T00:00:00Z")
            .with("parts", Json.array(about.items("parts").subList(1, 2)));
    node.call("run.start", Json.object("run", 1, "spec", Json.object("about", other)));
    launcher = launcher();

    launcher.attach(Set.of(0, 1));

    node.awaitCall("watch 1");
    assertEquals(1, launcher.running().size());
    assertFalse(node.calls().contains(KILL), node.calls()::toString);
  }

  /** Another laptop's, on a node of which nothing was left. */
  @Test
  void aRunThatIsOverDoesNotReplaceWhatAFailedStartHasLeft() throws Exception {
    leaveOnLastNode(100);
    launcher.close();
    nodes.getFirst().call("run.start", other());
    nodes.getFirst().end(1, OK);
    launcher = launcher();

    launcher.attach(Set.of(0, 1));

    assertEquals(List.of("1:0", "1:1"), launcher.find(Optional.of(1)).slots());
  }

  @Test
  void whatAFailedStartHasLeftOnNodesThatNoLongerHaveItIsOver() throws Exception {
    leaveOnLastNode(100);
    nodes.getLast().mend();
    nodes.getLast().call("run.stop", Json.object("run", 1, "forget", true));

    assertEquals(
        RunView.State.STOPPED, launcher.stop(1, "INT", Duration.ofSeconds(1), talk).state());
  }

  /** Until it is killed there, also by the gateway after the next one. */
  @Test
  void whatARunOfTheSameNumberReplacesIsEndedByALaterGateway() throws Exception {
    leaveOnLastNode(100);
    launcher.close();
    nodes.getFirst().call("run.start", other());
    launcher = launcher();
    launcher.attach(Set.of(0, 1));
    launcher.close();
    assertFalse(nodes.getLast().calls().contains(KILL), nodes.getLast().calls()::toString);
    nodes.getLast().mend();
    launcher = launcher();

    launcher.attach(Set.of(0, 1));

    nodes.getLast().awaitCall(KILL);
    assertEquals(1, launcher.running().size());
    assertEquals(List.of("0:0", "0:1"), launcher.find(Optional.of(1)).slots());
    assertEquals(1, nodes.getFirst().call("run.list", Json.object("alive", true)).items().size());
  }

  /** As when another gateway has taken the session. */
  @Test
  void aLinkThatIsOverEndsTheKillUntilThereIsAnotherOne() throws Exception {
    nodes.getLast().fail("run.status", new AgentFailure.Superseded("another gateway", 2));
    var isUnknown = new CountDownLatch(1);
    launcher.onChange(
        () ->
            launcher.list().stream()
                .filter(run -> run.state() == RunView.State.UNKNOWN)
                .forEach(_ -> isUnknown.countDown()));
    leaveOnLastNode(1);
    isUnknown.await();
    launcher.close();
    launcher = launcher();

    launcher.attach(Set.of(0, 1));

    assertEquals(Optional.of(137), follow(1).get());
    assertEquals(RunView.State.STOPPED, launcher.find(Optional.of(1)).state());
  }

  @Test
  void aRecordOfNodesThatTheSessionHasNotIsLeftAlone() throws Exception {
    leaveOnLastNode(100);
    launcher.close();
    nodes.getLast().mend();
    Path file = folder.resolve("history/1.json");
    String record = Files.readString(file);
    Files.writeString(file, record.replaceAll("\"node\": *1", "\"node\": 7"));
    nodes.getFirst().call("run.start", other());
    launcher = launcher();

    launcher.attach(Set.of(0, 1));

    assertEquals(1, launcher.running().size());
  }

  @Test
  void whatIsLeftIsEndedOnANodeThatCannotReadItsSpecificationAtFirst() throws Exception {
    nodes.getLast().hideSpec();
    leaveOnLastNode(1);

    assertEquals(Optional.of(137), follow(1).get());
    assertTrue(nodes.getLast().calls().contains(KILL), nodes.getLast().calls()::toString);
  }

  @Test
  void aStopOfWhatIsLeftSparesTheRunOfAnotherLaptop() throws Exception {
    var refused = new AgentFailure.Refused("run.stop", "x", Json.object());
    Collections.nCopies(100, refused).forEach(each -> nodes.getFirst().fail("run.stop", each));
    leaveOnLastNode(100);
    FakeNode last = nodes.getLast();
    Json.Obj start = other();
    last.mend();
    last.call("run.stop", Json.object("run", 1, "forget", true));
    last.call("run.start", start);

    assertThrows(GpushException.class, () -> launcher.stop(1, "INT", Duration.ofSeconds(1), talk));

    assertFalse(last.calls().contains("stop 1 INT asked"), last.calls()::toString);
  }

  private void leaveOnLastNode(int refusals) {
    nodes.getFirst().interruptKeep();
    for (int call = 1; call <= refusals; call++) {
      nodes.getLast().fail("run.stop", new AgentFailure.Refused("run.stop", "x", Json.object()));
    }
    assertThrows(InterruptedException.class, () -> launch("train.py"));
  }

  /** The start, on the first node, of what another laptop has given the same number. */
  private Json.Obj other() {
    Json.Obj about = nodes.getLast().specs().getFirst().object("about");
    Json.Obj other =
        about
            .with("started", "2020-01-01T00:00:00Z")
            .with("parts", Json.array(about.items("parts").subList(0, 1)));
    return Json.object("run", 1, "spec", Json.object("about", other));
  }

  @Test
  void theRunOfAnotherLaptopIsNotEndedWithWhatAFailedStartHasLeft() throws Exception {
    nodes.getLast().call("run.start", Json.object("run", 1, "spec", Json.object()));
    nodes.getFirst().fail("run.stop", CUT);

    assertEquals(2, launch("train.py").number());

    assertEquals(Optional.of(137), follow(1).get());
    assertFalse(nodes.getLast().calls().contains(KILL), nodes.getLast().calls()::toString);
    assertEquals(2, nodes.getLast().call("run.list", Json.object("alive", true)).items().size());
  }

  /** As where its disk has not taken the result of the attempt before. */
  @Test
  void aRestartThatANodeRefusesLeavesTheResult() throws Exception {
    var once = new RunRequest.Ranks(Optional.empty(), 1);
    launch(Asked.with(once, Asked.run(folder, "train.py")));
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    for (FakeNode node : nodes) {
      node.awaitCall("follow 1");
    }
    nodes.getLast().refuse("exists");
    nodes.forEach(node -> node.end(1, OK.replace("\"exit\": 0", "\"exit\": 7")));

    assertEquals(Optional.of(7), status.get());
    assertEquals(RunView.State.FAILED, launcher.find(Optional.of(1)).state());
  }

  @Test
  void aRunWhoseAgentDiedBeforeItAnsweredHasStarted() throws Exception {
    nodes.getLast().cutStart();

    assertEquals(1, launch("train.py").number());

    assertEquals(RunView.State.RUNNING, launcher.find(Optional.of(1)).state());
  }

  /** With the same number, from another laptop. */
  @Test
  void theRunOfAnotherLaptopIsNotTakenForTheOneThatWasToStart() throws Exception {
    nodes.getLast().call("run.start", Json.object("run", 1, "spec", Json.object()));
    nodes.getLast().cutStart();

    assertThrows(GpushException.class, () -> launch("train.py"));

    assertEquals(1, nodes.getLast().call("run.list", Json.object("alive", true)).items().size());
  }

  @Test
  void theOutputThatNodesDoNotKeepIsNamed() throws Exception {
    launch("train.py");
    nodes.forEach(node -> node.end(1, OK));
    follow(1).get();
    nodes.getLast().call("run.stop", Json.object("run", 1, "forget", true));

    launcher.follow(1, FakeOutput.UP_TO_NOW, output);
    launcher.fetch(1, folder.resolve("logs"), talk);

    String said = "the output on node 1 is not kept: a node keeps the last 50 runs, of all 8 GB";
    assertEquals(List.of("1: " + said), output.events());
    assertTrue(talk.said().contains(said), talk.said()::toString);
  }

  @Test
  void aNodeThatCannotReadOnCostsNoOtherItsOutput() throws Exception {
    launch("train.py");
    nodes.getLast().write(1, Journals.out(1, "b\n"));
    nodes.forEach(node -> node.end(1, OK));
    follow(1).get();
    var cut = new LaunchFailure.CutOutput(1, 0);
    nodes.getFirst().fail("follow", cut);
    var logs = new FakeOutput();

    var failed =
        assertThrows(GpushException.class, () -> launcher.follow(1, FakeOutput.UP_TO_NOW, logs));

    assertEquals(cut, failed.failure());
    assertEquals(List.of("1/1 b"), logs.lines());
    assertEquals(
        List.of("0: the output on node 0 ends here: the node cannot read the rest"), logs.events());
  }

  /** The reader hears of it while the run's own end counts. */
  @Test
  void aNodeThatCannotReadOnIsNamedToAFollower() throws Exception {
    launch("train.py");
    var each = new FakeNode.Break(0, false);
    nodes
        .getFirst()
        .breakStreams(
            FakeNode.Reader.FOLLOWER, Collections.nCopies(30, each).toArray(FakeNode.Break[]::new));
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    for (FakeNode node : nodes) {
      node.awaitCall("follow 1");
    }
    nodes.forEach(node -> node.end(1, OK));

    assertEquals(Optional.of(0), status.get());
    assertEquals(
        List.of("0: the output on node 0 ends here: the node cannot read the rest"),
        output.events());
  }

  /** Takes nothing before it goes on. */
  private static final class SlowOutput implements RunOutput {
    private final CountDownLatch isSlow = new CountDownLatch(1);
    private final CountDownLatch goesOn = new CountDownLatch(1);
    private final List<String> said = new CopyOnWriteArrayList<>();

    private void take(String text) {
      said.add(text);
      isSlow.countDown();
      try {
        goesOn.await();
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void line(int node, int rank, boolean error, byte[] text) {
      take(new String(text, StandardCharsets.UTF_8));
    }

    @Override
    public void restarting(int node, RunFailure failure, int restart, int most) {
      take(restart + " of " + most);
    }

    @Override
    public void event(int node, String text) {
      take(text);
    }
  }

  private void endAndAwaitRestart(int restart) throws InterruptedException {
    nodes.forEach(node -> node.end(1, OK.replace("\"exit\": 0", "\"exit\": 7")));
    for (FakeNode node : nodes) {
      node.awaitCalls("start 1 again", restart);
    }
  }

  @Test
  void aReaderWhoMissesAnAttemptHearsOfIt() throws Exception {
    var slow = new SlowOutput();
    launch(Asked.with(new RunRequest.Ranks(Optional.empty(), 2), Asked.run(folder, "train.py")));
    nodes.getFirst().write(1, Journals.out(0, "a\n"));
    Task<Optional<Integer>, RuntimeException> status =
        tasks.fork("slow", () -> launcher.follow(1, FakeOutput.UNTIL_ITS_END, slow));
    for (FakeNode node : nodes) {
      node.awaitCall("follow 1");
    }
    slow.isSlow.await();
    endAndAwaitRestart(1);
    endAndAwaitRestart(2);
    nodes.forEach(node -> node.end(1, OK));
    assertEquals(Optional.of(0), follow(1).get());
    slow.goesOn.countDown();

    assertEquals(Optional.of(0), status.get());
    assertEquals(List.of("a", MISSED, "2 of 2"), slow.said);
  }

  @Test
  void aReaderWhoMissesAnAttemptWhileOneIsNamedHearsOfIt() throws Exception {
    var slow = new SlowOutput();
    launch(Asked.with(new RunRequest.Ranks(Optional.empty(), 2), Asked.run(folder, "train.py")));
    Task<Optional<Integer>, RuntimeException> status =
        tasks.fork("slow", () -> launcher.follow(1, FakeOutput.UNTIL_ITS_END, slow));
    for (FakeNode node : nodes) {
      node.awaitCall("follow 1");
    }
    endAndAwaitRestart(1);
    slow.isSlow.await();
    endAndAwaitRestart(2);
    nodes.forEach(node -> node.end(1, OK));
    assertEquals(Optional.of(0), follow(1).get());
    slow.goesOn.countDown();

    assertEquals(Optional.of(0), status.get());
    assertEquals(List.of("1 of 2", MISSED, "2 of 2"), slow.said);
  }

  /** What no code expects must not leave readers waiting. */
  @Test
  void aBugInTheWatchLeavesTheRunUnknown() throws Exception {
    launch("train.py");
    Task<RunView, RuntimeException> stopped =
        tasks.fork("stop", () -> launcher.stop(1, "INT", Duration.ofMinutes(10), talk));
    for (FakeNode node : nodes) {
      node.awaitCall("stop 1 INT asked");
    }
    nodes.get(0).failWatch();

    assertEquals(RunView.State.UNKNOWN, stopped.get().state());
  }
}
