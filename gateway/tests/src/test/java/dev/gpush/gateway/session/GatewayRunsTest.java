package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.LaunchEvent;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which session a run gets, and what becomes of one that was made for it. */
@Execution(ExecutionMode.CONCURRENT)
final class GatewayRunsTest {
  private static final RunTarget HERE =
      new RunTarget(Optional.empty(), Optional.empty(), List.of(), Optional.empty());

  private static final RunOutput IGNORED =
      new RunOutput() {
        @Override
        public void line(int node, int rank, boolean error, byte[] text) {}

        @Override
        public void restarting(int node, RunFailure failure, int restart, int most) {}

        @Override
        public void event(int node, String text) {}
      };

  private final List<LaunchEvent> events = new ArrayList<>();
  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;

  @BeforeEach
  void begin() throws IOException {
    rig = SessionRig.calm();
    gateway = rig.gateway();
    project = rig.project("project");
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private RunRequest run(String... words) {
    return Asked.run(project, words);
  }

  private static RunRequest claiming(RunRequest asked, Optional<Integer> nodes, String gpus) {
    Optional<GpuRequest> each =
        Optional.of(gpus).filter(text -> !text.isEmpty()).map(GpuRequest::parse);
    return asked.claiming(new RunRequest.Claim(nodes, each, asked.claim().on(), false));
  }

  private RunView launch(RunTarget target, RunRequest request) throws InterruptedException {
    return gateway.runs().launch(target, request, events::add, Talk.silent());
  }

  private static Failure failure(Executable work) {
    return assertThrows(GpushException.class, work).failure();
  }

  private void make(String name, Path folder) throws InterruptedException {
    SessionView made = gateway.up(ask(folder, 2), Talk.silent());
    assertEquals(new SessionName(name), made.name());
  }

  @Test
  void makesASessionAsLargeAsTheClaimAndKeepsIt() throws Exception {
    RunView run = launch(HERE, claiming(run("true"), Optional.of(2), ""));

    assertEquals("devbox", run.session());
    assertEquals(2, run.slots().stream().map(slot -> slot.split(":")[0]).distinct().count());
    var made = assertInstanceOf(LaunchEvent.SessionMade.class, events.getFirst());
    assertEquals(DEVBOX, made.session().name());
    assertEquals(1, events.size());
    rig.assertOneGang();
  }

  @Test
  void aPreviewMakesSendsAndStartsNothing() throws Exception {
    RunRequest request = claiming(run("python3", "train.py"), Optional.of(2), "");
    assertInstanceOf(
        Runs.Preview.NewSession.class, gateway.runs().preview(HERE, request, Talk.silent()));
    assertInstanceOf(
        LaunchFailure.NothingToRepeat.class,
        failure(() -> gateway.runs().preview(HERE, run(), Talk.silent())));
    assertEquals(List.of(), gateway.list());

    make("devbox", project);
    Files.writeString(project.resolve("new.py"), "x\n");
    var before = gateway.list().getFirst();
    var seen =
        assertInstanceOf(
            Runs.Preview.Ready.class, gateway.runs().preview(HERE, request, Talk.silent()));

    assertEquals(DEVBOX, seen.session());
    assertEquals(List.of(new SyncView.Preview.Sent("new.py", 2)), seen.files().sends());
    assertEquals(seen.files(), gateway.previewSync(DEVBOX, false, Talk.silent()));
    assertEquals(2, seen.launch().starts().size());
    assertInstanceOf(
        SessionFailure.Differs.class,
        failure(
            () ->
                gateway
                    .runs()
                    .preview(HERE, claiming(run("true"), Optional.of(3), ""), Talk.silent())));
    Sessions.Extension extension = gateway.previewExtend(DEVBOX, Optional.of(Duration.ofHours(2)));
    assertEquals(Optional.of(Duration.ofHours(2)), extension.hardEnd());
    assertFalse(extension.mayBeRefused());
    var after = gateway.list().getFirst();
    assertEquals(before.generation(), after.generation());
    assertEquals(before.hardEndLeft(), after.hardEndLeft());
    assertEquals(List.of(), gateway.runs().list(DEVBOX));
  }

  @Test
  void startsAreTracedAndTheNextGatewayKnowsThem() throws Exception {
    RunView run = launch(HERE, claiming(run("true"), Optional.of(2), ""));
    SessionView made = gateway.list().getFirst();

    assertEquals(
        List.of(Stage.PLAN, Stage.RESERVE, Stage.AGENTS, Stage.WORKSPACE, Stage.ENVIRONMENT),
        stages(made.trace()));
    assertEquals(
        List.of(Stage.SESSION, Stage.WORKSPACE, Stage.PYTHON, Stage.RANKS), stages(run.trace()));
    assertFalse(made.status().isStarting());
    assertTrue(made.trace().took().compareTo(run.trace().took()) <= 0);

    gateway.close();
    gateway = rig.gateway();
    gateway.recover();
    assertEquals(run.trace(), gateway.runs().find(DEVBOX, Optional.of(run.number())).trace());
    assertEquals(made.trace(), gateway.list().getFirst().trace());
  }

  private static List<Stage> stages(Trace trace) {
    return trace.phases().stream().map(Trace.Phase::stage).toList();
  }

  @Test
  void aReadySessionIsTakenAsItIs() throws Exception {
    Files.writeString(project.resolve("gpush.yaml"), "nodes: 2\n"); // makes it the root
    make("devbox", project);
    Path inside = Files.createDirectory(project.resolve("src"));
    Files.writeString(inside.resolve("model.py"), "x = 1\n");

    RunView run = launch(HERE, Asked.run(inside, "true"));

    assertEquals("devbox", run.session());
    assertEquals(List.of(), events);
    rig.assertOneGang();
  }

  @Test
  void aNameIsTakenBeforeTheFolder() throws Exception {
    make("devbox", project);
    var mine = new SessionName("mine");

    RunView run =
        launch(
            new RunTarget(Optional.of(mine), Optional.empty(), List.of(), Optional.empty()),
            run("true"));

    assertEquals("mine", run.session());
    var made = assertInstanceOf(LaunchEvent.SessionMade.class, events.getFirst());
    assertEquals(mine, made.session().name());
  }

  @Test
  void oneOfAnEarlierGatewayIsTaken() throws Exception {
    make("devbox", project);
    gateway.close();
    gateway = rig.gateway();
    gateway.recover();

    RunView run = launch(HERE, run("true"));

    assertEquals("devbox", run.session());
    assertEquals(List.of(), events);
    rig.assertOneGang();
  }

  @ParameterizedTest
  @CsvSource({
    "4, '', '', nodes, 2, 4",
    "1, 16, '', gpus, cpu, 16",
    "1, '', hpc, backend, local, hpc",
  })
  void oneThatLacksWhatIsClaimedDiffers(
      int nodes, String gpus, String backend, String what, String has, String asked)
      throws Exception {
    make("devbox", project);
    var target =
        new RunTarget(
            Optional.empty(),
            Optional.of(backend).filter(name -> !name.isEmpty()),
            List.of(),
            Optional.empty());
    RunRequest request = claiming(run("true"), Optional.of(nodes), gpus);

    assertEquals(
        new SessionFailure.Differs(
            "devbox", List.of(new SessionFailure.Difference(what, has, asked))),
        failure(() -> launch(target, request)));
    rig.assertOneGang();
  }

  @Test
  void oneThatIsGivenBackBeforeTheLaunchIsMadeAgain() throws Exception {
    make("devbox", project);
    var ends = new CountDownLatch(1);
    var isWaitedFor = new CountDownLatch(1);
    FakeTalk ending =
        FakeTalk.at(
            () -> {
              ends.countDown();
              await(isWaitedFor);
            });
    Task<Sessions.GivenBack, InterruptedException> down =
        rig.tasks().fork("down", () -> gateway.down(DEVBOX, true, ending));
    await(ends);

    RunView run =
        gateway.runs().launch(HERE, run("true"), events::add, FakeTalk.at(isWaitedFor::countDown));

    down.get();
    assertEquals("devbox", run.session());
    assertEquals(2, events.size());
    assertEquals(new LaunchEvent.SessionGone("devbox", "it was given back"), events.getFirst());
    assertInstanceOf(LaunchEvent.SessionMade.class, events.getLast());
    rig.assertOneGang();
  }

  /** A run that waits for the slots of another one, in the terminal that this talk is. */
  private Task<RunView, InterruptedException> runThatWaits(FakeTalk talk) throws Exception {
    return runThatWaits(talk, "sleep", "600");
  }

  private Task<RunView, InterruptedException> runThatWaits(FakeTalk talk, String... words)
      throws Exception {
    make("devbox", project);
    launch(HERE, run("sleep", "600"));
    RunRequest queued = Asked.queued(run(words));
    Task<RunView, InterruptedException> run =
        rig.tasks().fork("run", () -> gateway.runs().launch(HERE, queued, events::add, talk));
    SessionRig.until(
        "it waits", () -> talk.lines().stream().anyMatch(line -> line.startsWith("waiting for")));
    return run;
  }

  private void assertGone(String reason, Task<RunView, InterruptedException> run) {
    assertEquals(new SessionFailure.Gone("devbox", reason), failure(run::get));
    assertEquals(List.of(), events);
  }

  @Test
  void aRunThatWaitsForSlotsHasTheFilesOfItsHeader() throws Exception {
    Files.writeString(project.resolve("status"), "3");
    Task<RunView, InterruptedException> run =
        runThatWaits(FakeTalk.answering(true), "sh", "-c", "exit $(cat status)");
    Files.writeString(project.resolve("status"), "4");
    gateway.sync(DEVBOX, false, Talk.silent());
    gateway.runs().stop(DEVBOX, 1, "KILL", Duration.ZERO, Talk.silent());

    RunView started = run.get();
    Optional<Integer> status =
        gateway.runs().follow(DEVBOX, 2, new LogRequest(Set.of(), true, Optional.empty()), IGNORED);

    assertEquals(Optional.of(3), status);
    assertTrue(started.launched().fromSnapshot());
  }

  @Test
  void oneThatIsGivenBackWhileTheRunWaitsForSlotsIsNotMadeAgain() throws Exception {
    Task<RunView, InterruptedException> run = runThatWaits(FakeTalk.answering(true));

    gateway.down(DEVBOX, false, FakeTalk.answering(true));

    assertGone("another gpush down or up --replace gave it back meanwhile", run);
    rig.assertNothingLeft(gateway);
  }

  @Test
  void aRunThatWaitsForSlotsIsNotMovedToTheSuccessor() throws Exception {
    Task<RunView, InterruptedException> run = runThatWaits(FakeTalk.answering(true));

    gateway.up(SessionRig.discarding(ask(project, 1)), Talk.silent());

    assertGone("another gpush down or up --replace gave it back meanwhile", run);
    assertEquals(List.of(), gateway.runs().list(DEVBOX));
    rig.assertOneGang();
  }

  @Test
  void oneThatWasMadeForARunAndEndedByAnotherCommandIsNotSaidToBeKept() {
    Consumer<LaunchEvent> ends =
        event -> {
          events.add(event);
          if (event instanceof LaunchEvent.SessionMade) {
            inAnotherTerminal(() -> gateway.down(DEVBOX, true, Talk.silent()));
          }
        };

    assertInstanceOf(SessionFailure.Gone.class, failure(() -> launch(run("true"), ends)));

    assertEquals(1, events.size(), events::toString);
    rig.assertNothingLeft(gateway);
  }

  @Test
  void theSuccessorOfOneThatWasMadeForARunIsNotGivenBack() {
    Consumer<LaunchEvent> replaces =
        event -> {
          events.add(event);
          if (event instanceof LaunchEvent.SessionMade) {
            inAnotherTerminal(() -> gateway.down(DEVBOX, true, Talk.silent()));
            inAnotherTerminal(() -> make("devbox", project));
          }
        };

    assertInstanceOf(SessionFailure.Gone.class, failure(() -> launch(run("true"), replaces)));

    assertEquals(1, events.size(), events::toString);
    assertEquals(List.of(SessionState.READY), SessionRig.states(gateway));
    assertEquals(List.of(), gateway.runs().list(DEVBOX));
    rig.assertOneGang();
  }

  private RunView launch(RunRequest request, Consumer<LaunchEvent> heard)
      throws InterruptedException {
    return gateway.runs().launch(HERE, request, heard, Talk.silent());
  }

  private static void inAnotherTerminal(Executable command) {
    assertDoesNotThrow(command);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stop) {
      throw new AssertionError(stop);
    }
  }

  @Test
  void oneThatWasMadeInVainIsGivenBack() {
    RunRequest request = Asked.on("9:0", run("true"));

    assertInstanceOf(LaunchFailure.BadSlots.class, failure(() -> launch(HERE, request)));

    assertEquals(2, events.size());
    assertInstanceOf(LaunchEvent.SessionMade.class, events.getFirst());
    var back = assertInstanceOf(LaunchEvent.SessionGivenBack.class, events.getLast());
    assertEquals(DEVBOX, back.session());
    rig.assertNothingLeft(gateway);
  }

  @Test
  void oneThatWasThereIsKeptWhenTheLaunchFails() throws Exception {
    make("devbox", project);
    RunRequest request = Asked.on("9:0", run("true"));

    assertInstanceOf(LaunchFailure.BadSlots.class, failure(() -> launch(HERE, request)));

    assertEquals(List.of(), events);
    rig.assertOneGang();
  }

  @Test
  void oneThatCannotBeGivenBackIsToldAndTheFailureIsTheLaunchs() {
    rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);
    RunRequest request = Asked.on("9:0", run("true"));

    assertInstanceOf(LaunchFailure.BadSlots.class, failure(() -> launch(HERE, request)));

    var kept = assertInstanceOf(LaunchEvent.SessionKept.class, events.getLast());
    assertEquals(DEVBOX, kept.session());
    assertInstanceOf(BackendFailure.NotReleased.class, kept.failure());
    rig.assertOneGang();
  }

  @Test
  void nothingIsReservedForWordsThatCannotBeLaunched() {
    assertInstanceOf(
        LaunchFailure.NoSuchScript.class, failure(() -> launch(HERE, run("trian.py"))));
    assertEquals(
        new LaunchFailure.NothingToRepeat("this folder"), failure(() -> launch(HERE, run())));

    assertEquals(List.of(), events);
    rig.assertNothingLeft(gateway);
  }
}
