package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Work;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.testkit.fake.FakeTrouble.Gate;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
final class GatewaySessionsTest {
  private SessionRig rig;
  private GatewaySessions gateway;
  private GatewaySessions sessions;
  private Path project;

  @BeforeEach
  void begin() throws IOException {
    rig = SessionRig.calm();
    gateway = rig.gateway();
    sessions = gateway;
    project = rig.project("project");
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private SessionView up(UpRequest request) throws InterruptedException {
    return sessions.up(request, Talk.silent());
  }

  private List<String> down(SessionName name) throws InterruptedException {
    return sessions.down(name, true, Talk.silent()).kept();
  }

  private <T> Task<T, RuntimeException> fork(Work<T, RuntimeException> work) {
    return rig.tasks().fork("client", work);
  }

  private static <T> T get(Task<T, RuntimeException> task) throws Exception {
    return task.get(SessionRig.DEADLINE);
  }

  private static Failure failure(org.junit.jupiter.api.function.Executable work) {
    return assertThrows(GpushException.class, work).failure();
  }

  private SessionState recorded() {
    return rig.ledger().load().getLast().state();
  }

  @Test
  void upMakesAReadySessionAndTheSameAttaches() throws Exception {
    SessionView made = up(ask(project, 2));
    SessionView found = up(ask(project, 2));

    assertEquals(DEVBOX, made.name());
    assertEquals(SessionState.READY, made.state());
    assertEquals(2, made.nodes().size());
    assertTrue(made.isNew());
    assertTrue(made.idleLeft().isPresent());
    assertEquals(made.id(), found.id());
    assertFalse(found.isNew());
    assertEquals(SessionState.READY, recorded());
    assertTrue(
        Files.exists(Path.of(made.nodes().getLast().info().workspace()).resolve("train.py")));
    assertEquals(2, gateway.routes().published().getFirst().nodes());
    rig.assertOneGang();
  }

  @Test
  void plainUpAttachesToWhateverTheFolderHas() throws Exception {
    SessionView made = up(ask(project, 2));
    try (var habits = Files.list(rig.home().resolve("folders"))) {
      Files.delete(habits.findFirst().orElseThrow());
    }

    assertEquals(made.id(), up(ask(project)).id());
  }

  @Test
  void anotherRequestDiffersAndReplaceMakesAnotherOne() throws Exception {
    SessionView one = up(ask(project, 1));

    assertEquals(
        new SessionFailure.Differs(
            "devbox", List.of(new SessionFailure.Difference("nodes", "1", "2"))),
        failure(() -> up(ask(project, 2))));
    SessionView two = up(SessionRig.replacing(ask(project, 2)));

    assertNotEquals(one.id(), two.id());
    assertEquals(DEVBOX, two.name());
    assertTrue(two.isNew());
    rig.assertOneGang();
  }

  @Test
  void nothingIsGivenBackForWhatCanNeverBe() throws Exception {
    SessionView one = up(ask(project, 1));
    UpRequest tooMuch = SessionRig.sized(SessionRig.replacing(ask(project, 1)), 1, "9");

    assertInstanceOf(BackendFailure.NeverFits.class, failure(() -> up(tooMuch)));

    assertEquals(one.id(), up(ask(project, 1)).id());
  }

  @Test
  void whatCanNeverBeLeavesNoTraceInAFreshHome() throws Exception {
    UpRequest tooMuch = SessionRig.sized(ask(project), 1, "9");

    assertInstanceOf(BackendFailure.NeverFits.class, failure(() -> up(tooMuch)));

    rig.assertNothingLeft(gateway);
    assertFalse(Files.exists(rig.home().resolve("ledger")));
  }

  @Test
  void twoAtOnceForOneFolderGetOneGang() throws Exception {
    Gate gate = rig.trouble().hold(Operation.RESERVE, Moment.BEFORE);
    Task<SessionView, RuntimeException> one = fork(() -> up(ask(project, 2)));
    Task<SessionView, RuntimeException> two = fork(() -> up(ask(project, 2)));
    gate.awaitReached();
    gate.open();

    assertEquals(get(one).id(), get(two).id());
    assertNotEquals(get(one).isNew(), get(two).isNew());
    rig.assertOneGang();
  }

  @Test
  void whoAsksForSomethingElseMeanwhileIsToldThatItDiffers() throws Exception {
    Gate gate = rig.trouble().hold(Operation.RESERVE, Moment.BEFORE);
    Task<SessionView, RuntimeException> one = fork(() -> up(ask(project, 1)));
    gate.awaitReached();

    var failed = assertThrows(GpushException.class, () -> up(ask(project, 2)));

    assertInstanceOf(SessionFailure.Differs.class, failed.failure());
    gate.open();
    assertEquals(1, get(one).nodes().size());
  }

  @Test
  void nothingIsReservedWhenTheNodeWherePeopleEditIsNotAmongThem() throws Exception {
    Path yaml = project.resolve("gpush.yaml");
    Files.writeString(yaml, "sync: {edit: 2}\n");

    assertEquals(new ConfigFailure.NoEditNode(2, 2), failure(() -> up(ask(project, 2))));
    assertEquals(new ConfigFailure.NoEditNode(2, 2), failure(() -> sessions.plan(ask(project, 2))));
    rig.assertNothingLeft(sessions);

    Files.delete(yaml);
    up(ask(project, 1));
    Files.writeString(yaml, "sync: {edit: 1}\n");
    assertEquals(new ConfigFailure.NoEditNode(1, 1), failure(() -> up(ask(project, 1))));
  }

  @Test
  void whoJoinsAnUpThatFailsHearsWhy() throws Exception {
    Gate gate = rig.trouble().hold(Operation.RESERVE, Moment.BEFORE);
    rig.trouble().fail(Operation.RESERVE, Moment.BEFORE);
    Task<SessionView, RuntimeException> one = fork(() -> up(ask(project, 1)));
    gate.awaitReached();
    var talk = FakeTalk.answering(true);
    Task<SessionView, RuntimeException> two = fork(() -> sessions.up(ask(project, 1), talk));
    until("it has joined", () -> talk.lines().stream().anyMatch(line -> line.startsWith("reserv")));
    gate.open();

    for (Task<SessionView, RuntimeException> up : List.of(one, two)) {
      assertInstanceOf(BackendFailure.Unavailable.class, failure(() -> get(up)));
    }
    rig.assertNothingLeft(gateway);
  }

  @Test
  void twoFoldersGetDevboxAndDevbox2() throws Exception {
    Path other = rig.project("other");
    Task<SessionView, RuntimeException> one = fork(() -> up(ask(project, 1)));
    Task<SessionView, RuntimeException> two = fork(() -> up(ask(other, 1)));

    assertEquals(
        Set.of("devbox", "devbox2"), Set.of(get(one).name().text(), get(two).name().text()));
    assertEquals(get(one).id(), sessions.choose(Optional.empty(), project).id());
    assertEquals(get(two).id(), sessions.choose(Optional.empty(), other).id());
    assertInstanceOf(
        UsageFailure.WhichSession.class,
        failure(() -> sessions.choose(Optional.empty(), rig.project("third"))));
    assertEquals(2, rig.held().size());
  }

  @Test
  void theOnlySessionIsMeantWhereverTheClientStands() throws Exception {
    SessionView made = up(ask(project, 1));

    assertEquals(made.id(), sessions.choose(Optional.empty(), rig.project("other")).id());
    assertEquals(made.id(), sessions.choose(Optional.of("devbox"), rig.project("other")).id());
    assertInstanceOf(
        UsageFailure.UnknownSession.class,
        failure(() -> sessions.choose(Optional.of("devbix"), project)));
  }

  @Test
  void cancelledAtAnyMomentNothingIsHeld() throws Exception {
    int moment = 0;
    boolean isMade = false;
    while (!isMade) {
      int at = moment++;
      var count = new AtomicInteger();
      var talk =
          FakeTalk.at(
              () -> {
                if (count.getAndIncrement() == at) {
                  Thread.currentThread().interrupt();
                }
              });
      talk.cancel();
      Task<SessionView, RuntimeException> up = fork(() -> sessions.up(ask(project, 1), talk));
      try {
        get(up);
        isMade = true;
      } catch (GpushException | InterruptedException stopped) {
        if (talk.lines().stream().anyMatch(line -> line.contains("keeps its nodes"))) {
          rig.assertOneGang();
          sessions.down(SessionRig.DEVBOX, true, Talk.silent());
        }
        rig.assertNothingLeft(gateway);
      }
    }
    rig.assertOneGang();
  }

  /** Somebody may use them already. */
  @Test
  void cancelledInItsSetupASessionKeepsItsNodesAndSaysSo() throws Exception {
    String mark = "sleep 1000." + System.nanoTime();
    Files.writeString(project.resolve("gpush.yaml"), "setup: {run: " + mark + "}\n");
    var said = new AtomicReference<FakeTalk>();
    var talk =
        FakeTalk.at(
            () -> {
              if (said.get().lines().getLast().startsWith("setup: ")) {
                until("it runs", () -> isRunning(mark));
                Thread.currentThread().interrupt();
              }
            });
    said.set(talk);
    talk.cancel();

    assertThrows(
        InterruptedException.class, () -> get(fork(() -> sessions.up(ask(project), talk))));

    assertEquals(
        "devbox was ready and keeps its nodes, without its whole environment; gpush up continues,"
            + " gpush down -s devbox gives them back",
        talk.lines().getLast());
    SessionView kept = sessions.list().getFirst();
    assertEquals(SessionState.READY, kept.state());
    assertEquals("its environment was not finished; gpush up tries again", kept.status().detail());
    until("the setup has ended", () -> !isRunning(mark));

    Files.writeString(project.resolve("gpush.yaml"), "setup: {run: echo done}\n");
    SessionView again = up(ask(project));

    assertEquals("", again.status().detail());
    rig.assertOneGang();
  }

  private static boolean isRunning(String mark) {
    return ProcessHandle.allProcesses()
        .anyMatch(process -> process.info().commandLine().orElse("").endsWith(mark));
  }

  @Test
  @Tag("chaos")
  void leftAtAnyMomentItIsMadeAllTheSame() throws Exception {
    boolean isSeenToTheEnd = false;
    for (int moment = 0; !isSeenToTheEnd; moment++) {
      int at = moment;
      var count = new AtomicInteger();
      var talk =
          FakeTalk.at(
              () -> {
                if (count.getAndIncrement() == at) {
                  Thread.currentThread().interrupt();
                }
              });
      Task<SessionView, RuntimeException> up = fork(() -> sessions.up(ask(project, 1), talk));
      try {
        get(up);
        isSeenToTheEnd = true;
      } catch (InterruptedException left) {
        // The command; its request goes on.
      }
      until("it is ready", () -> SessionRig.states(gateway).equals(List.of(SessionState.READY)));
      rig.assertOneGang();
      sessions.down(SessionRig.DEVBOX, true, Talk.silent());
    }
  }

  @Test
  void cancelledInsideTheBackendNothingIsHeld() throws Exception {
    var talk = FakeTalk.answering(true);
    talk.cancel();
    for (Operation operation : List.of(Operation.RESERVE, Operation.SPAWN)) {
      Gate gate = rig.trouble().hold(operation, Moment.BEFORE);
      Task<SessionView, RuntimeException> up = fork(() -> sessions.up(ask(project, 2), talk));
      gate.awaitReached();
      up.cancel();
      until("all is undone", () -> sessions.all().isEmpty());

      gate.open();
      rig.assertNothingLeft(gateway);
    }
    Gate gate = rig.trouble().hold(Operation.RESERVE, Moment.AFTER);
    Task<SessionView, RuntimeException> up = fork(() -> sessions.up(ask(project, 2), talk));
    gate.awaitReached();
    up.cancel();
    until("all is undone", () -> sessions.all().isEmpty());
    rig.assertNothingLeft(gateway);
  }

  @Test
  void aReservationThatFailsLeavesNothing() throws Exception {
    for (Moment moment : List.of(Moment.BEFORE, Moment.AFTER)) {
      rig.trouble().fail(Operation.RESERVE, moment);

      assertInstanceOf(BackendFailure.Unavailable.class, failure(() -> up(ask(project, 2))));

      rig.assertNothingLeft(gateway);
    }
  }

  @Test
  void aLinkThatFailsIsAFailureForPeopleAndTheGangIsReleased() throws Exception {
    rig.trouble().fail(Operation.SPAWN, Moment.BEFORE);

    assertThrows(GpushException.class, () -> up(ask(project, 2)));

    rig.assertNothingLeft(gateway);
    assertEquals(SessionState.READY, up(ask(project, 2)).state());
  }

  @Test
  void downReleasesAndTwoAtOnceAreOne() throws Exception {
    SessionView made = up(ask(project, 2));
    Path mine = Path.of(made.nodes().getFirst().info().workspace()).resolve("result.bin");
    Files.writeString(mine, "only here");
    Gate gate = rig.trouble().hold(Operation.RELEASE, Moment.BEFORE);
    Task<List<String>, RuntimeException> one = fork(() -> down(DEVBOX));
    gate.awaitReached();
    assertEquals(SessionState.RELEASING, recorded());
    var talk = FakeTalk.answering(true);
    Task<List<String>, RuntimeException> two = fork(() -> sessions.down(DEVBOX, true, talk).kept());
    until("it waits", () -> !talk.lines().isEmpty());
    gate.open();

    assertTrue(get(one).contains("node 0: " + mine));
    assertEquals(List.of(), get(two));
    rig.assertNothingLeft(gateway);
    assertEquals(SessionState.RELEASED, recorded());
    assertInstanceOf(UsageFailure.UnknownSession.class, failure(() -> down(DEVBOX)));
    assertTrue(up(ask(project, 2)).isNew());
  }

  @Test
  void downOfARunInProgressAsksFirst() throws Exception {
    up(ask(project, 1));
    RunView run = gateway.runs().launch(DEVBOX, run("sleep", "600"), Talk.silent());
    var no = FakeTalk.answering(false);

    assertInstanceOf(UsageFailure.Declined.class, failure(() -> sessions.down(DEVBOX, false, no)));
    assertInstanceOf(
        UsageFailure.Declined.class,
        failure(() -> sessions.up(SessionRig.replacing(ask(project, 2)), no)));
    assertEquals(
        List.of(
            "run 1 (sleep, 1 rank, 0s) is in progress on devbox; stop it and give the nodes back?"),
        no.lines().stream()
            .map(line -> line.replaceFirst("[0-9]+s\\)", "0s)"))
            .distinct()
            .toList());
    assertFalse(gateway.runs().find(DEVBOX, Optional.of(run.number())).isOver());

    sessions.down(DEVBOX, false, FakeTalk.answering(true));
    rig.assertNothingLeft(gateway);
  }

  private RunRequest run(String... words) {
    return Asked.run(project, words);
  }

  @Test
  void aRunThatWaitsForSlotsDoesNotKeepTheSession() throws Exception {
    up(ask(project, 1));
    gateway.runs().launch(DEVBOX, run("sleep", "600"), Talk.silent());
    RunRequest queued = Asked.queued(run("sleep", "600"));
    var talk = FakeTalk.answering(true);
    Task<RunView, RuntimeException> second =
        fork(() -> gateway.runs().launch(DEVBOX, queued, talk));
    until("it waits", () -> talk.lines().stream().anyMatch(line -> line.startsWith("waiting for")));

    down(DEVBOX);

    rig.assertNothingLeft(gateway);
    assertInstanceOf(SessionFailure.Gone.class, failure(() -> get(second)));
  }

  @Test
  void extendMovesTheEndOrLeavesItWhereItIs() throws Exception {
    SessionView made = up(SessionRig.ending(ask(project, 1), Duration.ofHours(1)));
    assertTrue(made.hardEndLeft().orElseThrow().compareTo(Duration.ofMinutes(59)) > 0);

    Duration two = sessions.extend(DEVBOX, Optional.of(Duration.ofHours(2))).hardEndLeft().get();
    assertTrue(two.compareTo(Duration.ofMinutes(119)) > 0);
    Duration same = sessions.extend(DEVBOX, Optional.empty()).hardEndLeft().orElseThrow();
    assertTrue(same.compareTo(Duration.ofMinutes(119)) > 0 && same.compareTo(two) <= 0);

    assertInstanceOf(
        UsageFailure.UnknownSession.class,
        failure(() -> sessions.extend(new SessionName("other"), none())));
  }

  /** A pull of hours must not outlast a lease that its user extends. */
  @Test
  void extendWaitsForNoOtherCommand() throws Exception {
    up(SessionRig.ending(ask(project, 1), Duration.ofHours(1)));
    try (TurnQueue.Turn _ = sessions.find(DEVBOX).begin("pull", Talk.silent())) {
      Duration left = sessions.extend(DEVBOX, Optional.of(Duration.ofHours(2))).hardEndLeft().get();

      assertTrue(left.compareTo(Duration.ofMinutes(119)) > 0);
    }
  }

  @Test
  void anotherIdleTimeIsTakenAndTheHardEndStays() throws Exception {
    SessionView made = up(SessionRig.ending(ask(project, 1), Duration.ofHours(1)));

    SessionView same = up(SessionRig.idling(ask(project, 1), Duration.ofMinutes(5)));

    assertEquals(made.id(), same.id());
    assertFalse(same.place().gang().isEmpty());
    assertTrue(same.idleLeft().orElseThrow().compareTo(Duration.ofMinutes(5)) <= 0);
    assertTrue(same.hardEndLeft().orElseThrow().compareTo(Duration.ofMinutes(59)) > 0);
    assertEquals(Duration.ofMinutes(5), rig.ledger().load().getLast().lease().idle());
  }

  private static Optional<Duration> none() {
    return Optional.empty();
  }

  private static ProcessHandle agent(SessionView view, int node) {
    return ProcessHandle.of(view.nodes().get(node).agentPid()).orElseThrow();
  }

  private static void stop(ProcessHandle process, String signal) throws Exception {
    assertEquals(
        0, new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor());
  }

  @Test
  @Tag("local")
  void aSilentAgentDoesNotHoldUpTheList() throws Exception {
    SessionView silent = up(ask(project, 1));
    SessionView other = up(ask(rig.project("other"), 1));
    ProcessHandle agent = agent(silent, 0);
    stop(agent, "-STOP");
    try {
      // It comes back at all: the agent says nothing until it goes on, below.
      List<SessionView> list = sessions.list();

      assertEquals(List.of(silent.id(), other.id()), list.stream().map(SessionView::id).toList());
      assertTrue(list.getLast().idleLeft().isPresent());
    } finally {
      stop(agent, "-CONT");
    }
  }

  @Test
  void aGangThatIsKilledFromOutsideEndsWithAReasonAndIsCleaned() throws Exception {
    SessionView made = up(ask(project, 2));
    GangId gang = rig.gang(made);

    rig.site().kill(gang, 0);
    rig.site().kill(gang, 1);
    agent(made, 1).destroyForcibly();

    until("the session is over", () -> sessions.list().isEmpty());
    rig.assertNothingLeft(gateway);
    assertEquals(SessionState.RELEASED, recorded());
    assertEquals("dead nodes: [0, 1]", rig.ledger().load().getLast().detail());
    until(
        "the other agent ends too",
        () -> ProcessHandle.of(made.nodes().getFirst().agentPid()).isEmpty());
  }

  @Test
  void aCommandThatWaitsForADeadNodeDoesNotKeepItsSessionFromEnding() throws Exception {
    SessionView made = up(ask(project, 1));
    LiveSession live = sessions.find(DEVBOX);
    ProcessHandle agent = agent(made, 0);
    stop(agent, "-STOP");
    Task<String, RuntimeException> command =
        fork(
            () -> {
              try (TurnQueue.Turn _ = live.begin("sync", Talk.silent())) {
                return live.link(0).call("status", dev.gpush.core.json.Json.object()).write();
              }
            });
    until("it has the turn", () -> command.isDone() || !isFree(live));

    rig.site().kill(rig.gang(made), 0);
    agent.destroyForcibly();

    assertThrows(GpushException.class, () -> get(command));
    until("the session is over", () -> sessions.list().isEmpty());
    rig.assertNothingLeft(gateway);
  }

  private static boolean isFree(LiveSession session) {
    var talk = FakeTalk.at(() -> Thread.currentThread().interrupt());
    try (TurnQueue.Turn _ = session.begin("look", talk)) {
      return true;
    } catch (InterruptedException taken) {
      return false;
    } finally {
      Thread.interrupted();
    }
  }

  @Test
  void upAfterTheGangWentAwayMakesANewOne() throws Exception {
    SessionView made = up(ask(project, 1));
    rig.site().kill(rig.gang(made), 0);
    agent(made, 0).destroyForcibly();
    until("it is seen", () -> !SessionRig.states(gateway).equals(List.of(SessionState.READY)));

    SessionView again = up(ask(project, 1));

    assertTrue(again.isNew());
    assertEquals(SessionState.READY, again.state());
    rig.assertOneGang();
  }

  @Test
  void aLinkThatIsCutIsDegradedOneObserverLooksAndItComesBack() throws Exception {
    SessionView made = up(ask(project, 1));
    agent(made, 0).destroyForcibly();

    until(
        "it is degraded", () -> SessionRig.states(gateway).equals(List.of(SessionState.DEGRADED)));
    SessionView seen = sessions.list().getFirst();
    assertTrue(seen.detail().startsWith("node 0 connection"), seen.detail());
    assertEquals("warn", finding("session devbox").status());
    // The site says that the gang exists: silence is unknown, never dead.
    assertEquals(SessionState.READY, recorded());
    rig.assertOneGang();
    down(DEVBOX);
    rig.assertNothingLeft(gateway);
  }

  private Sessions.Finding finding(String what) {
    return sessions.doctor().stream()
        .filter(finding -> finding.what().startsWith(what))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aLinkThatIsOverIsMadeAgainWhileTheGangIsThere() throws Exception {
    SessionView made = up(ask(project, 1));
    sessions.find(DEVBOX).link(0).gone("a bug");
    until("it is over", () -> SessionRig.states(gateway).equals(List.of(SessionState.DEGRADED)));

    SessionView again = up(ask(project, 1));

    assertEquals(made.id(), again.id());
    assertEquals(SessionState.READY, again.state());
  }

  @Test
  void aReleaseThatCannotBeConfirmedIsALeakUntilItCan() throws Exception {
    up(ask(project, 1));
    rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);

    assertInstanceOf(BackendFailure.NotReleased.class, failure(() -> down(DEVBOX)));

    assertEquals(List.of(SessionState.LEAKED), SessionRig.states(gateway));
    assertEquals(SessionState.LEAKED, recorded());
    assertEquals("bad", finding("session devbox").status());
    assertEquals(Optional.of("gpush down -s devbox"), finding("session devbox").remedy());
    assertInstanceOf(SessionFailure.Leaked.class, failure(() -> up(ask(project, 1))));
    assertInstanceOf(
        SessionFailure.Leaked.class,
        failure(() -> gateway.runs().launch(DEVBOX, run("true"), Talk.silent())));
    assertInstanceOf(
        SessionFailure.Leaked.class, failure(() -> sessions.sync(DEVBOX, false, Talk.silent())));
    assertInstanceOf(
        SessionFailure.Leaked.class,
        failure(() -> sessions.extend(DEVBOX, Optional.of(Duration.ofHours(1)))));
    assertInstanceOf(
        dev.gpush.ssh.connection.Route.Refused.class, gateway.routes().route("devbox"));

    down(DEVBOX);
    rig.assertNothingLeft(gateway);
    assertEquals("ok", finding("ended session devbox").status());
  }

  @Test
  void anUpThatCannotBeUndoneIsALeak() throws Exception {
    rig.trouble().fail(Operation.SPAWN, Moment.BEFORE);
    rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);

    GpushException first = assertThrows(GpushException.class, () -> up(ask(project, 1)));

    assertFalse(first.failure() instanceof BackendFailure.NotReleased);
    assertEquals(List.of(SessionState.LEAKED), SessionRig.states(gateway));
    down(DEVBOX);
    rig.assertNothingLeft(gateway);
  }

  @Test
  void aLeakWithoutAGrantCanBeGivenBack() throws Exception {
    rig.trouble().fail(Operation.RESERVE, Moment.AFTER);
    rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);

    assertThrows(GpushException.class, () -> up(ask(project, 1)));
    assertEquals(List.of(SessionState.LEAKED), SessionRig.states(gateway));

    down(DEVBOX);
    rig.assertNothingLeft(gateway);
  }

  @Test
  void anInterruptedDownIsALeakThatDownCleans() throws Exception {
    up(ask(project, 1));
    Gate gate = rig.trouble().hold(Operation.RELEASE, Moment.BEFORE);
    Task<List<String>, RuntimeException> down = fork(() -> down(DEVBOX));
    gate.awaitReached();

    down.cancel();

    until("it is leaked", () -> SessionRig.states(gateway).equals(List.of(SessionState.LEAKED)));
    down(DEVBOX);
    rig.assertNothingLeft(gateway);
  }

  @Test
  void planHasNoEffect() throws Exception {
    assertEquals(
        List.of(SessionRig.BACKEND),
        sessions.plan(ask(project, 2)).offers().stream().map(offer -> offer.backend()).toList());

    rig.assertNothingLeft(gateway);
  }

  @Test
  void aFileOfANodeIsFetchedAndSyncCounts() throws Exception {
    SessionView made = up(ask(project, 1));
    Files.writeString(
        Path.of(made.nodes().getFirst().info().workspace()).resolve("out.txt"), "result");

    sessions.pull(DEVBOX, 0, "out.txt", Talk.silent());
    Files.writeString(project.resolve("more.py"), "2");
    long synced = sessions.sync(DEVBOX, false, Talk.silent());

    assertEquals("result", Files.readString(project.resolve("out.txt")));
    assertEquals(made.generation().orElseThrow() + 1, synced);
    assertInstanceOf(
        SessionFailure.UnknownNode.class,
        failure(() -> sessions.pull(DEVBOX, 3, "out.txt", Talk.silent())));
  }
}
