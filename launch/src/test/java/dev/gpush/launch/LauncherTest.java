package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.LaunchFailure.NoSnapshot;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunReason;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.launch.journal.RunTalk;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The engine with nodes that do what the test says. */
final class LauncherTest {
  private static final String OK =
      "{\"exit\": 0, \"signal\": null, \"first\": null, \"stopped\": false}";
  private static final String SILENT =
      "nodes 0, 1: the network could not be read (internal); nothing is set, and NCCL" + " chooses";
  private static final String TORCH =
      "gpush-python {\"executable\": \"/e/bin/python\", \"version\": \"3.11.2\", \"torch\":"
          + " \"2.8.0\", \"packages\": [\"torch-2.8.0\"]}";

  @TempDir private Path folder;
  private final List<FakeNode> nodes = List.of(new FakeNode(), new FakeNode());
  private final FakeTalk talk = new FakeTalk();
  private final FakeTurn turn = new FakeTurn();
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
    return launcher(Optional.empty());
  }

  private Launcher launcher(Optional<NodeFolder> outputs) {
    LaunchSite site = FakeNode.site(nodes, folder, outputs);
    return new Launcher(site, new FabricPlanner(List::of), Clock.system(), tasks);
  }

  private RunRequest request(String... words) {
    return Asked.run(folder, words);
  }

  private RunRequest on(String slots, String... words) {
    return Asked.on(slots, request(words));
  }

  private LaunchInput input() {
    return new LaunchInput(
        42,
        Optional.empty(),
        Map.of(),
        Map.of(),
        path ->
            path.toString().equals("train.py")
                ? Optional.of("*.py (.gitignore:1)")
                : Optional.empty(),
        RunEnding.usual());
  }

  private RunView launch(String... words) throws InterruptedException {
    return launcher.launch(request(words), input(), turn, talk);
  }

  private Failure refused(String... words) {
    return assertThrows(GpushException.class, () -> launch(words)).failure();
  }

  private Task<Optional<Integer>, RuntimeException> follow(int run) {
    return tasks.fork("follow", () -> launcher.follow(run, FakeOutput.UNTIL_ITS_END, output));
  }

  /** Its words look like ranks of a module, and it is newer than the run that people mean. */
  @Test
  void aNotebookIsACommandAndNotTheLastRun() throws Exception {
    launch("true");
    nodes.forEach(node -> node.end(1, OK));
    assertEquals(Optional.of(0), follow(1).get());

    RunView run =
        launcher.launch(
            on("0:1", "python3", "-m", "jupyterlab").as(RunKind.NOTEBOOK), input(), turn, talk);

    Json spec = nodes.getFirst().specs().getLast();
    assertEquals("notebook", spec.text("kind").orElseThrow());
    assertEquals("command", spec.text("mode").orElseThrow());
    assertEquals(List.of("python3", "-m", "jupyterlab"), spec.texts("argv"));
    assertEquals(List.of("notebook"), run.title());
    assertEquals(1, launcher.find(Optional.empty()).number());
    assertEquals(List.of(RunKind.NOTEBOOK, RunKind.PROGRAM), kinds(launcher));
    nodes.getFirst().end(2, OK);
    assertEquals(Optional.of(0), follow(2).get());
    assertEquals(List.of("true"), launch().words());
    try (Launcher restarted = launcher()) {
      assertEquals(List.of(RunKind.PROGRAM, RunKind.NOTEBOOK, RunKind.PROGRAM), kinds(restarted));
    }
  }

  private static List<RunKind> kinds(Launcher of) {
    return of.list().stream().map(RunView::kind).toList();
  }

  /** Nobody asks which Python there is for the sake of a command that may not want one. */
  @Test
  void aCommandStartsNothingElseOnNodesThatActivateByThemselves() throws Exception {

    RunView run = launch("true");

    for (FakeNode node : nodes) {
      assertEquals(
          List.of(), node.calls().stream().filter(each -> each.startsWith("ask")).toList());
      assertEquals("/n", node.specs().getFirst().texts("activate").getFirst().substring(0, 2));
    }
    nodes.forEach(node -> node.end(run.number(), OK));
    assertEquals(Optional.of(0), follow(run.number()).get());
    launch("train.py");
    assertEquals(
        1, nodes.getFirst().calls().stream().filter(each -> each.startsWith("ask")).count());
  }

  @Test
  void startsAllNodesAndMergesTheirOutput() throws Exception {
    RunView run = launch("train.py", "--lr", "1");
    Task<Optional<Integer>, RuntimeException> status = follow(run.number());
    nodes.get(0).write(1, Journals.out(0, "a\nb"), Journals.err(1, "e\n"), Journals.out(0, "c\n"));
    nodes.get(1).write(1, Journals.out(2, "d"));
    nodes.get(0).end(1, OK);
    nodes.get(1).end(1, OK);

    assertEquals(Optional.of(0), status.get());
    assertEquals(
        List.of("0/0 a", "0/0 bc", "0/1! e", "1/2 d"), output.lines().stream().sorted().toList());
    RunView over = launcher.find(Optional.empty());
    assertEquals(RunView.State.DONE, over.state());
    assertEquals(Optional.of(0), over.exit());
    assertEquals(4, over.ranks());
    assertEquals(List.of("0:0", "0:1", "1:0", "1:1"), over.slots());
    assertEquals(
        "run 1 · 4 ranks · /usr/bin/python3 python 3.11 · " + folder + " · G42", run.header());
    assertEquals(
        List.of(
            "no torch in /usr/bin/python3: ranks get the same environment without torchrun",
            SILENT),
        talk.said());
  }

  /** The watch and the follower each read the journal; both lose their stream in a record. */
  @ParameterizedTest
  @CsvSource({"1, false", "15, true", "16, false", "30, true", "40, false", "70, false"})
  void streamThatBreaksInARecordIsReadOnFromItsBeginning(int bytes, boolean isQuiet)
      throws Exception {
    var broken = new FakeNode.Break(bytes, isQuiet);
    nodes.getFirst().breakStreams(FakeNode.Reader.WATCH, broken);
    nodes.getFirst().breakStreams(FakeNode.Reader.FOLLOWER, broken);
    launch("train.py");
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    nodes.get(0).write(1, Journals.out(0, "a line that is longer than a header\n"));
    nodes.get(0).write(1, Journals.out(1, "short\n"));
    nodes.forEach(node -> node.end(1, OK));

    assertEquals(Optional.of(0), status.get());
    assertEquals(RunView.State.DONE, launcher.find(Optional.of(1)).state());
    assertEquals(List.of("0/0 a line that is longer than a header", "0/1 short"), output.lines());
  }

  /** Who asked for the end gave all nodes time, also where that was said on an earlier stream. */
  @Test
  void stopThatWasReadBeforeTheStreamBrokeHurriesNobody() throws Exception {
    byte[] stopping = Journals.event("{\"event\": \"stopping\", \"why\": \"asked\"}");
    launch("train.py");
    launcher.close();
    int read = Journals.event("{\"event\": \"started\"}").length + stopping.length;
    nodes.get(0).breakStreams(FakeNode.Reader.WATCH, new FakeNode.Break(read, false));
    nodes
        .get(0)
        .write(
            1, stopping, Journals.event("{\"event\": \"rank-exit\", \"rank\": 0, \"signal\": 2}"));
    try (Launcher other = launcher()) {
      other.attach(Set.of(0, 1));
      String end = "{\"exit\": null, \"signal\": 2, \"stopped\": true}";
      nodes.forEach(node -> node.end(1, end));
      assertEquals(Optional.of(130), other.follow(1, FakeOutput.UNTIL_ITS_END, output));
    }

    assertFalse(nodes.get(1).calls().toString().contains("TERM"), nodes.get(1).calls()::toString);
  }

  @Test
  void firstFailingRankDecidesAndTheOtherNodesStop() throws Exception {
    launch("train.py");
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    nodes.get(1).write(1, Journals.event("{\"event\": \"rank-exit\", \"rank\": 3, \"exit\": 7}"));
    nodes.get(0).awaitCall("stop 1 TERM node 1 failed");
    nodes
        .get(0)
        .end(
            1,
            "{\"exit\": null, \"signal\": 15, \"first\": {\"rank\": 0, \"signal\": 15, \"at_ms\":"
                + " 9000}, \"stopped\": true}");
    nodes
        .get(1)
        .end(
            1,
            "{\"exit\": 7, \"signal\": null, \"first\": {\"rank\": 3, \"exit\": 7, \"at_ms\": 100},"
                + " \"stopped\": false}");

    assertEquals(Optional.of(7), status.get());
    assertEquals(RunView.State.FAILED, launcher.find(Optional.of(1)).state());
    assertEquals(List.of(), output.events());
    RunFailure failure = launcher.find(Optional.of(1)).failure().orElseThrow();
    assertEquals(3, failure.rank());
    assertEquals(new RunReason.Exited(7), failure.reason());
    assertEquals(1, nodes.get(0).calls().stream().filter(call -> call.startsWith("stop")).count());
  }

  @Test
  void refusalOfOneNodeEndsTheOthers() {
    nodes.get(1).refuse("busy");

    assertEquals(
        new LaunchFailure.NoFreeSlots("all slots", List.of("run 99")), refused("train.py"));

    assertTrue(nodes.get(0).calls().contains("stop 1 KILL another node could not start"));
    assertEquals(List.of(), launcher.list());
  }

  @Test
  void refusalsAreSaidInOurWords() {
    nodes.get(0).refuse("not-found");
    assertEquals(
        new LaunchFailure.ScriptIgnored("train.py", "*.py (.gitignore:1)"), refused("train.py"));
    nodes.get(0).refuse("no-space");
    assertTrue(
        refused("train.py") instanceof LaunchFailure.Refused(int node, String code, _)
            && node == 0
            && code.equals("no-space"));
    assertEquals(new LaunchFailure.NothingToRepeat("devbox"), refused());
    assertEquals(
        new LaunchFailure.NoSuchScript("tarin.py", folder.toString(), List.of("train.py")),
        refused("tarin.py"));
    assertTrue(
        assertThrows(GpushException.class, () -> launcher.find(Optional.of(5))).failure()
            instanceof LaunchFailure.UnknownRun);
  }

  @Test
  void allNodesHaveASnapshotBeforeOneStarts() throws Exception {
    RunRequest asked = request("train.py").fromSnapshot(true);
    nodes.get(1).refuse("moved");
    assertEquals(new NoSnapshot(1, 42, ""), refused(asked));
    assertEquals(List.of("snapshot 1 of G42"), started(nodes.get(0)));
    assertEquals(List.of(), launcher.list());

    RunView run = launcher.launch(asked, input(), turn, talk);

    assertTrue(run.launched().fromSnapshot());
    assertEquals(
        List.of("snapshot 1 of G42", "snapshot 1 of G42", "start 1"), started(nodes.get(1)));
    assertTrue(nodes.get(1).specs().getFirst().get("snapshot").isPresent());
  }

  @Test
  void aSnapshotOfARunWithThisNumberIsLeftAlone() throws Exception {
    nodes.get(1).refuse("exists");

    assertEquals(
        2, launcher.launch(request("train.py").fromSnapshot(true), input(), turn, talk).number());
  }

  @Test
  void theRunOfAnEarlierGenerationIsRepeatedOnItsFiles() throws Exception {
    launch("train.py");
    nodes.forEach(node -> node.end(1, OK));
    launch("-m", "other");
    nodes.forEach(node -> node.end(2, OK));
    Files.delete(folder.resolve("train.py"));
    assertEquals(List.of(42L, 42L), nodes.get(1).kept());

    assertEquals(
        new LaunchFailure.NoGeneration("devbox", 41, List.of(42L)),
        refused(request().at(Optional.of(41L))));
    nodes.get(0).refuse("changed");
    assertEquals(
        new NoSnapshot(0, 42, "train.py"), refused(on("0:1", "train.py").at(Optional.of(42L))));
    RunView run = launcher.launch(request().at(Optional.of(42L)), input(), turn, talk);

    assertEquals(List.of("-m", "other"), run.launched().words());
    assertTrue(run.launched().fromSnapshot());
    nodes.forEach(node -> node.end(3, OK));
    RunView named =
        launcher.launch(on("0:1", "train.py").at(Optional.of(42L)), input(), turn, talk);
    assertEquals(List.of("0:1"), named.slots());
    assertTrue(started(nodes.get(0)).contains("snapshot 4 of G42"));
  }

  @Test
  void whatIsRepeatedKeepsItsOptionsWithFilesOfItsOwn() throws Exception {
    launcher.launch(on("1:0", "train.py"), input(), turn, talk);
    nodes.get(1).end(1, OK);

    RunView again = launcher.launch(request().fromSnapshot(true), input(), turn, talk);

    assertEquals(List.of("1:0"), again.slots());
  }

  private static List<String> started(FakeNode node) {
    return node.calls().stream().filter(call -> call.matches("(snapshot|start) .*")).toList();
  }

  private Failure refused(RunRequest asked) {
    return assertThrows(GpushException.class, () -> launcher.launch(asked, input(), turn, talk))
        .failure();
  }

  @Test
  void portThatIsTakenIsAnotherPortNextTime() throws Exception {
    nodes.get(0).refuse("port-taken");

    launch("train.py");

    assertEquals(
        2001L, nodes.get(0).specs().getLast().object("master").number("port").orElseThrow());
    assertEquals(
        2001L, nodes.get(1).specs().getLast().object("master").number("port").orElseThrow());
    assertEquals(
        "10.0.0.0", nodes.get(1).specs().getLast().object("master").text("addr").orElseThrow());
  }

  @Test
  void portThatWasStolenStartsTheRunAgain() throws Exception {
    launch("train.py");
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    nodes.get(0).awaitCall("follow 1");
    nodes
        .get(0)
        .end(
            1,
            "{\"exit\": 1, \"signal\": null, \"first\": {\"rank\": 0, \"exit\": 1, \"at_ms\": 5},"
                + " \"stopped\": false, \"port_taken\": 2000}");
    nodes.get(1).awaitCall("stop 1 TERM node 0 failed");
    nodes.get(1).end(1, "{\"exit\": null, \"signal\": 15, \"stopped\": true}");
    nodes.get(1).awaitCall("start 1 again");
    nodes.get(0).awaitCall("start 1 again");
    for (FakeNode node : nodes) {
      while (node.specs().size() < 2) {
        LockSupport.parkNanos(1_000_000);
      }
      node.end(1, OK);
    }

    assertEquals(Optional.of(0), status.get());
    assertEquals(
        2001L, nodes.get(0).specs().getLast().object("master").number("port").orElseThrow());
    assertTrue(output.events().contains("0: " + RunTalk.AGAIN), output.events()::toString);
  }

  @Test
  void moreRanksThanGpusAreRefused() {
    RunRequest request =
        Asked.with(new RunRequest.Ranks(Optional.of(3), 0), Asked.on("1", request("train.py")));

    Failure failure =
        assertThrows(GpushException.class, () -> launcher.launch(request, input(), turn, talk))
            .failure();

    assertEquals(
        new UsageFailure.BadArguments(
            "run",
            "each rank needs a GPU, and this run claims 2 on node 1, so --nproc must be at most 2,"
                + " not 3",
            List.of()),
        failure);
    assertEquals(List.of(), launcher.list());
  }

  @Test
  void fewerRanksShareTheGpusOfTheirNode() throws Exception {
    launcher.launch(
        Asked.with(new RunRequest.Ranks(Optional.of(1), 0), request("train.py")),
        input(),
        turn,
        talk);

    Json spec = nodes.get(1).specs().getFirst();
    assertEquals(List.of("0", "1"), spec.texts("slots"));
    assertEquals(Optional.of(1L), spec.number("procs"));
    assertEquals(Optional.of("0,1"), spec.text("visible"));
    assertEquals(Optional.of(2L), spec.number("world"));
  }

  @Test
  void aStopEndsTheRestarts() throws Exception {
    launcher.launch(
        Asked.with(new RunRequest.Ranks(Optional.empty(), 5), request("train.py")),
        input(),
        turn,
        talk);
    Task<RunView, RuntimeException> stopped =
        tasks.fork("stop", () -> launcher.stop(1, "INT", Duration.ofMinutes(10), talk));
    for (FakeNode node : nodes) {
      node.awaitCall("stop 1 INT asked");
    }
    for (FakeNode node : nodes) {
      node.end(
          1,
          "{\"exit\": 7, \"signal\": null, \"first\": {\"rank\": 0, \"exit\": 7, \"at_ms\":"
              + " 5, \"asked\": true}, \"stopped\": true}");
    }

    assertEquals(RunView.State.STOPPED, stopped.get().state());
    assertFalse(nodes.getFirst().calls().contains("start 1 again"));
  }

  /** The ranks of node 0 got what was edited there meanwhile, and the others did not. */
  @Test
  void aRestartGetsTheFilesOfTheRun() throws Exception {
    failsOnEditedFiles();

    for (FakeNode node : nodes) {
      node.awaitCall("start 1 again");
      assertTrue(node.calls().contains("snapshot 1 of G42"), node.calls()::toString);
      assertTrue(node.specs().getLast().get("snapshot").isPresent());
    }
  }

  /** As when a rank has written a large file that it was sent: a run of the night goes on. */
  @Test
  void aRestartIsAsBeforeWhereItsFilesAreGone() throws Exception {
    failsOnEditedFiles("changed");

    for (FakeNode node : nodes) {
      node.awaitCall("start 1 again");
      assertFalse(node.specs().getLast().get("snapshot").isPresent());
    }
  }

  private void failsOnEditedFiles(String... refusals) throws InterruptedException {
    var twice = new RunRequest.Ranks(Optional.empty(), 1);
    launcher.launch(Asked.with(twice, request("train.py")), input(), turn, talk);
    List.of(refusals).forEach(nodes.getFirst()::refuse);
    nodes.getFirst().edit("model.py");
    for (FakeNode node : nodes) {
      node.end(1, "{\"exit\": 7, \"signal\": null, \"first\": {\"rank\": 0, \"exit\": 7}}");
    }
  }

  @Test
  void stopAsksAllNodesAndWaits() throws Exception {
    launch("train.py");
    Task<RunView, RuntimeException> stopped =
        tasks.fork("stop", () -> launcher.stop(1, "INT", Duration.ofMinutes(10), talk));
    String end =
        "{\"exit\": null, \"signal\": 2, \"first\": {\"rank\": 0, \"signal\": 2, \"at_ms\": 5},"
            + " \"stopped\": true}";
    for (FakeNode node : nodes) {
      node.awaitCall("stop 1 INT asked");
      node.write(1, Journals.event("{\"event\": \"rank-exit\", \"rank\": 0, \"signal\": 2}"));
    }
    nodes.forEach(node -> node.end(1, end));

    assertEquals(RunView.State.STOPPED, stopped.get().state());
    assertEquals(Optional.of(130), stopped.get().exit());
    assertEquals(
        RunView.State.STOPPED, launcher.stop(1, "INT", Duration.ofSeconds(1), talk).state());
    for (FakeNode node : nodes) {
      assertFalse(node.calls().toString().contains("TERM"), "nobody is hurried who was given time");
    }
  }

  @Test
  void killedSupervisorIsLostAndTheOthersStop() throws Exception {
    launch("train.py");
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    nodes.get(0).lose(1, Json.object("lost", true));
    nodes.get(1).awaitCall("stop 1 TERM node 0 failed");
    nodes.get(1).end(1, "{\"exit\": null, \"signal\": 15, \"stopped\": true}");

    var failed = assertThrows(GpushException.class, status::get);
    assertEquals(new LaunchFailure.Lost(1, 0), failed.failure());
    assertEquals(RunView.State.LOST, launcher.find(Optional.of(1)).state());
    assertTrue(launcher.find(Optional.of(1)).isOver());
  }

  @Test
  void theOutputOfTheOtherNodesIsThereWhenOneIsLost() throws Exception {
    launch("train.py");
    Task<Optional<Integer>, RuntimeException> status = follow(1);
    nodes.get(0).write(1, Journals.out(0, "a\n"));
    nodes.get(1).goAway();
    nodes.get(0).awaitCall("stop 1 TERM node 1 failed");
    nodes.get(0).end(1, "{\"exit\": null, \"signal\": 15, \"stopped\": true}");

    assertEquals(
        new LaunchFailure.Lost(1, 1), assertThrows(GpushException.class, status::get).failure());
    assertEquals(List.of("0/0 a"), output.lines());
    assertEquals(
        new RunReason.NodeLost(RunReason.Loss.NODE),
        launcher.find(Optional.of(1)).failure().orElseThrow().reason());

    var shown = new FakeOutput();
    assertThrows(GpushException.class, () -> launcher.follow(1, FakeOutput.UP_TO_NOW, shown));
    assertEquals(List.of("0/0 a"), shown.lines());
    assertEquals(List.of("1: node 1 is lost, and what its ranks printed with it"), shown.events());
  }

  @Test
  void outputsAreThoseOfTheNodesUserAlsoWithoutAPython() throws Exception {
    launcher.close();
    launcher = launcher(Optional.of(new NodeFolder("~/$USER/runs")));
    for (FakeNode node : nodes) {
      node.python("");
      node.user("/home/ann", "ann");
    }

    launch("sh", "-c", "ls");

    for (FakeNode node : nodes) {
      assertEquals(
          Optional.of("/home/ann/ann/runs/devbox-012345/run-1"),
          node.specs().getFirst().text("outputs"));
    }
    nodes.forEach(node -> node.end(1, OK));
    follow(1).get();
    nodes.get(1).user("", "ann");
    assertEquals(
        new LaunchFailure.Refused(1, "broken", "it did not report $HOME"),
        refused("sh", "-c", "ls"));
  }

  @Test
  void emptyWordsRepeatTheLastRunAsItWas() throws Exception {
    launcher.launch(on("1:0", "train.py", "a b"), input(), turn, talk);
    nodes.get(1).end(1, OK);
    follow(1).get();

    RunView again = launch();

    assertEquals(List.of("train.py", "a b"), again.words());
    assertEquals(List.of("1:0"), again.slots());
    assertEquals(List.of("train.py", "a b"), nodes.get(1).specs().getLast().texts("program"));
    assertEquals(List.of(), nodes.get(0).specs());
  }

  private static Failure failure(org.junit.jupiter.api.function.Executable work) {
    return assertThrows(GpushException.class, work).failure();
  }

  @Test
  void anotherGatewayFindsTheRunsAgain() throws Exception {
    launch("train.py");
    launcher.close();
    try (Launcher other = launcher()) {
      assertEquals(RunView.State.RUNNING, other.find(Optional.of(1)).state());
      other.attach(Set.of(0, 1));
      Task<Optional<Integer>, RuntimeException> status =
          tasks.fork("follow", () -> other.follow(1, FakeOutput.UNTIL_ITS_END, output));
      nodes.forEach(node -> node.end(1, OK));
      assertEquals(Optional.of(0), status.get());
      assertEquals(RunView.State.DONE, other.find(Optional.of(1)).state());
    }
  }

  @Test
  void runThatAGatewayDiedStartingIsLostNotRunning() throws Exception {
    launch("train.py");
    nodes.forEach(node -> node.end(1, OK));
    follow(1).get();
    launcher.close();
    Path file = folder.resolve("history/1.json");
    Files.writeString(
        file,
        Files.readString(file)
            .replace("\"done\"", "\"starting\"")
            .replace("\"exit\": 0", "\"exit\": null")
            .replace("\"run\": 1", "\"run\": 5"));
    Files.move(file, folder.resolve("history/5.json"));
    launcher = launcher();
    launcher.attach(Set.of(0, 1));

    assertEquals(RunView.State.LOST, stateOnceOver(5));
    assertEquals(
        new RunReason.NodeLost(RunReason.Loss.START),
        launcher.find(Optional.of(5)).failure().orElseThrow().reason());
    assertEquals(RunView.State.DONE, stateOnceOver(1));
  }

  private RunView.State stateOnceOver(int run) throws InterruptedException {
    while (!launcher.find(Optional.of(run)).isOver()) {
      LockSupport.parkNanos(1_000_000);
    }
    return launcher.find(Optional.of(run)).state();
  }

  @Test
  void runOfAnotherLaptopIsAdopted() throws Exception {
    launch("train.py", "--x");
    launcher.close();
    Files.delete(folder.resolve("history/1.json"));
    try (Launcher other = launcher()) {
      assertEquals(List.of(), other.list());
      other.attach(Set.of(0, 1));
      assertEquals(List.of("train.py", "--x"), other.find(Optional.of(1)).words());
      RunView next = other.launch(request("nvidia-smi"), input(), turn, talk);
      assertEquals(2, next.number());
    } catch (GpushException busy) {
      assertTrue(busy.failure() instanceof LaunchFailure.NoFreeSlots);
    }
  }

  @Test
  void runsOfAnotherLaptopAreAdoptedBeyondTheRoomOfAnAnswer() throws Exception {
    launcher.launch(on("0", "train.py"), input(), turn, talk);
    for (int run = 2; run <= 4; run++) {
      launcher.launch(on("1", "true"), input(), turn, talk);
      nodes.get(1).end(run, OK);
      follow(run).get();
    }
    launcher.close();
    for (int run = 1; run <= 4; run++) {
      Files.delete(folder.resolve("history/" + run + ".json"));
    }
    nodes.forEach(node -> node.listAtMost(1));
    launcher = launcher();

    launcher.attach(Set.of(0, 1));

    assertEquals(List.of(4, 3, 2, 1), launcher.list().stream().map(RunView::number).toList());
    assertEquals(RunView.State.RUNNING, launcher.find(Optional.of(1)).state());
  }

  @Test
  void numberOfAnotherGatewayIsNotUsed() throws Exception {
    launch("train.py");
    nodes.forEach(node -> node.end(1, OK));
    follow(1).get();
    launcher.close();
    Files.delete(folder.resolve("history/1.json"));
    launcher = launcher();

    assertEquals(2, launch("train.py").number());
  }

  @Test
  void torchIsUsedWhereItIsAndMissedWhereItIsNeeded() throws Exception {
    Files.writeString(folder.resolve("train.py"), "import torch\n");
    assertTrue(
        refused("train.py") instanceof LaunchFailure.NoTorch(var python, _)
            && python.equals("/usr/bin/python3"));
    assertTrue(refused("torchrun", "train.py") instanceof LaunchFailure.NoTorch);

    nodes.forEach(node -> node.python(TORCH));
    launcher.close();
    launcher = launcher();
    RunView run = launch("torchrun", "--nproc-per-node", "3", "--max-restarts", "2", "train.py");

    assertEquals("torchrun", run.launched().mode());
    assertEquals(List.of("--max-restarts", "2"), nodes.get(0).specs().getLast().texts("torchrun"));
    assertEquals(
        List.of("instead of --nproc-per-node 3: the nodes and ranks of this session", SILENT),
        talk.said());
  }

  @Test
  void torchThatAnEarlierRunUsedIsNamed() throws Exception {
    nodes.forEach(node -> node.python(TORCH));
    launch("/e/bin/python", "train.py");
    nodes.forEach(
        node -> node.python("gpush-python {\"executable\": \"/own\", \"version\": \"3.11.2\"}"));

    assertTrue(
        refused("torchrun", "train.py") instanceof LaunchFailure.NoTorch(_, var others)
            && others.getFirst().equals("/e/bin/python"));
  }

  @Test
  void nodesThatDifferDoNotStart() {
    nodes.get(0).python(TORCH);

    assertEquals(
        new LaunchFailure.NodesDiffer(
            "the Python of node 0 (/e/bin/python)", List.of("node 1 lacks torch-2.8.0")),
        refused("train.py"));
    nodes.get(1).python("");
    launcher.close();
    launcher = launcher();
    assertTrue(refused("train.py") instanceof LaunchFailure.NoPython(int node, _) && node == 1);
    nodes.get(1).breakPython("noise\ngpush-candidate /e/python3\nno libpython\n");
    assertEquals(
        new LaunchFailure.BrokenPython(1, "/e/python3", "no libpython (exit status 127)"),
        refused("train.py"));
  }

  @Test
  void commandNeedsNoPythonAndRunsOncePerNode() throws Exception {
    nodes.forEach(node -> node.python(""));

    RunView run = launch("nvidia-smi -L");

    assertEquals("command", run.launched().mode());
    assertEquals("run 1 · 2 nodes · " + folder + " · G42", run.header());
    assertEquals(Optional.of("nvidia-smi -L"), nodes.get(1).specs().getLast().text("command"));
    assertEquals(1L, nodes.get(1).specs().getLast().number("first_rank").orElseThrow());
  }
}
