package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEADLINE;
import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.core.session.Sessions.KeepRequest;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import dev.gpush.testkit.fixture.Asked;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A request that waits in a queue is the gateway's: terminals come and go, its place stays. */
final class WaitingRequestTest {
  private SessionRig rig;
  private Places places;
  private final FakeTalk talk = FakeTalk.answering(true);

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.calm();
    places = new Places(rig);
    places.fill("hpc");
  }

  @AfterEach
  void end() throws Exception {
    try {
      places.assertNothingHeld();
    } finally {
      rig.close();
    }
  }

  private GatewaySessions gateway(String... names) {
    List<Backend> all = List.of(names).stream().map(places::queueing).toList();
    return rig.gateway(all, DEADLINE);
  }

  /** A command, with the thread that a hangup interrupts. */
  private record Command(CompletableFuture<Thread> thread, Task<SessionView, RuntimeException> up) {
    void hangUp() throws Exception {
      thread.get().interrupt();
      assertThrows(InterruptedException.class, this::get);
    }

    SessionView get() throws Exception {
      return up.get(DEADLINE);
    }

    Failure failure() {
      return assertThrows(GpushException.class, this::get).failure();
    }
  }

  private Command up(GatewaySessions gateway, UpRequest request, Talk its) {
    var thread = new CompletableFuture<Thread>();
    return new Command(
        thread,
        rig.tasks()
            .fork(
                "up",
                () -> {
                  thread.complete(Thread.currentThread());
                  return gateway.up(request, its);
                }));
  }

  private Command upAndWait(GatewaySessions gateway, FakeTalk its) {
    Command command = up(gateway, places.ask(), its);
    until("it waits at hpc", () -> waiting().isPresent());
    until("it is shown as queued", () -> state(gateway).equals(List.of(SessionState.QUEUED)));
    return command;
  }

  private Optional<GangId> waiting() {
    return places.site("hpc").waiting().stream().map(GangRequest::gang).findFirst();
  }

  private static List<SessionState> state(GatewaySessions gateway) {
    return SessionRig.states(gateway);
  }

  private static void awaitReady(GatewaySessions gateway) {
    until("it is ready", () -> state(gateway).equals(List.of(SessionState.READY)));
  }

  private void down(GatewaySessions gateway) throws Exception {
    gateway.down(DEVBOX, true, Talk.silent());
  }

  @Test
  void aHangupLeavesThePlaceAndTheNextUpHasIt() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    Command first = upAndWait(gateway, talk);
    GangId asked = waiting().orElseThrow();

    first.hangUp();

    assertEquals(Optional.of(asked), waiting());
    SessionView queued = gateway.list().getFirst();
    assertEquals(SessionState.QUEUED, queued.state());
    assertEquals("1 of 1", queued.detail());
    assertTrue(queued.status().isStarting());
    assertEquals(List.of(), gateway.routes().published());
    var target = new RunTarget(Optional.empty(), Optional.empty(), List.of(), Optional.empty());
    RunRequest run = Asked.run(places.ask().origin().folder(), "true");
    assertInstanceOf(
        Runs.Preview.NewSession.class,
        gateway.runs().preview(target, run, Talk.silent()),
        "a run would wait for it");
    var second = FakeTalk.answering(true);
    Command again = up(gateway, places.ask(), second);
    until(
        "it has joined",
        () -> second.lines().stream().anyMatch(line -> line.startsWith("devbox has waited for")));
    until(
        "it shows the same step", () -> second.lines().contains("reserving 1 × 8 = 8 GPU on hpc"));
    places.free("hpc");
    SessionView ready = again.get();
    assertEquals(SessionState.READY, ready.state());
    assertFalse(ready.isNew(), "it was asked for by another command");
    assertEquals(asked, rig.gang(ready));
    down(gateway);
  }

  @Test
  void whatIsAheadIsKnownWhileItWaits() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    Command waits = upAndWait(gateway, talk);

    assertEquals(
        Map.of("hpc", new JobsAhead("the pretended queue", 0, List.of(), false)),
        gateway.ahead(DEVBOX));
    places.free("hpc");
    waits.get();
    assertEquals(Map.of(), gateway.ahead(DEVBOX));
    down(gateway);
  }

  @Test
  void whatIsGrantedWhileNobodyWaitsIsReadyAndHasTheFiles() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    upAndWait(gateway, talk).hangUp();

    places.free("hpc");

    awaitReady(gateway);
    assertEquals(Optional.of(1L), gateway.list().getFirst().generation());
    down(gateway);
  }

  @Test
  void whatIsHeldIsNamedAndTheRestIsThere() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    upAndWait(gateway, talk).hangUp();
    Path there = rig.path("nodes-hpc").resolve(waiting().orElseThrow().text()).resolve("0/project");
    Files.createDirectories(there);
    Files.writeString(there.resolve("train.py"), "print('theirs')\n");
    Files.writeString(rig.path("project").resolve("other.py"), "print('other')\n");

    places.free("hpc");

    awaitReady(gateway);
    String detail = gateway.list().getFirst().detail();
    assertEquals(
        "train.py is held: changed here TIME and on node 0 TIME; everything else was sent; gpush"
            + " sync --keep laptop|node PATH decides",
        detail.replaceAll("20\\S+Z", "TIME"));
    assertTrue(Files.exists(there.resolve("other.py")));
    gateway.keep(
        DEVBOX, new KeepRequest(KeepRequest.Side.NODE, List.of("train.py")), Talk.silent());
    assertEquals("", gateway.list().getFirst().detail());
    down(gateway);
  }

  @Test
  void ctrlCGivesThePlaceUp() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    Command command = upAndWait(gateway, talk);

    talk.cancel();
    command.hangUp();

    assertEquals(Optional.empty(), waiting());
    assertEquals(List.of(), gateway.list());
    assertEquals(List.of(), rig.ledger().load());
    assertTrue(talk.lines().contains("devbox: the request was cancelled"));
  }

  /** It was called a session that is ready and keeps its nodes. */
  @Test
  void ctrlCWhoseReleaseCannotBeConfirmedNamesTheLeak() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    Command command = upAndWait(gateway, talk);
    places.trouble("hpc").fail(Operation.RELEASE, Moment.BEFORE);

    talk.cancel();
    command.thread().get().interrupt();

    assertEquals(leak(), command.failure());
    assertFalse(
        talk.lines().stream().anyMatch(line -> line.contains("keeps its nodes")),
        talk.lines()::toString);
    down(gateway);
  }

  /** As by gpush stop, which said that it is cancelled. */
  @Test
  void givingUpWhatCannotBeReleasedNamesTheLeak() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    upAndWait(gateway, talk).hangUp();
    places.trouble("hpc").fail(Operation.RELEASE, Moment.BEFORE);

    var failed = assertThrows(GpushException.class, () -> gateway.giveUp(DEVBOX, talk));

    assertEquals(leak(), failed.failure());
    down(gateway);
  }

  private static Failure leak() {
    return new SessionFailure.Leaked(
        "devbox", "hpc", "fake cannot be used: pretended failure BEFORE RELEASE");
  }

  @Test
  void ctrlCOfOneOfTwoLeavesThePlaceToTheOther() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    Command first = upAndWait(gateway, talk);
    var second = FakeTalk.answering(true);
    Command other = up(gateway, places.ask(), second);
    until("it follows", () -> second.lines().contains("reserving 1 × 8 = 8 GPU on hpc"));

    talk.cancel();
    first.hangUp();

    assertTrue(waiting().isPresent());
    second.cancel();
    other.hangUp();
    assertEquals(Optional.empty(), waiting());
    assertEquals(List.of(), gateway.list());
  }

  @Test
  void ctrlCOfARunThatOnlyJoinedLeavesThePlace() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    gateway.upDetached(places.ask(), Talk.silent());
    var runs = FakeTalk.answering(true);
    Command run = up(gateway, SessionRig.attaching(places.ask()), runs);
    until("it has joined", () -> !runs.lines().isEmpty());

    runs.cancel();
    run.hangUp();

    assertTrue(waiting().isPresent());
    down(gateway);
  }

  @Test
  void downGivesThePlaceUpAndTheWaitingCommandIsTold() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    Command command = upAndWait(gateway, talk);

    down(gateway);

    assertEquals(Optional.empty(), waiting());
    assertEquals(new SessionFailure.GivenUp("devbox"), command.failure());
    assertEquals(List.of(), rig.ledger().load());
  }

  @Test
  void givingUpIsForRequestsAlone() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    upAndWait(gateway, talk).hangUp();

    assertTrue(gateway.giveUp(DEVBOX, Talk.silent()));

    assertEquals(Optional.empty(), waiting());
    places.free("hpc");
    up(gateway, places.ask(), talk).get();
    assertFalse(gateway.giveUp(DEVBOX, Talk.silent()));
    assertEquals(List.of(SessionState.READY), state(gateway));
    down(gateway);
  }

  @Test
  void detachedReturnsAsSoonAsItWaits() throws Exception {
    GatewaySessions gateway = gateway("hpc");

    SessionView queued = gateway.upDetached(places.ask(), talk);

    assertEquals(SessionState.QUEUED, queued.state());
    assertTrue(waiting().isPresent());
    SessionView again = gateway.upDetached(places.ask(), talk);
    assertEquals(queued.id(), again.id());
    places.free("hpc");
    awaitReady(gateway);
    assertFalse(gateway.upDetached(places.ask(), talk).isNew());
    down(gateway);
  }

  @Test
  void detachedWhereItIsFreeIsReadyOnReturn() throws Exception {
    places.free("hpc");
    GatewaySessions gateway = gateway("hpc");

    SessionView view = gateway.upDetached(places.ask(), talk);

    // A queue may be passed so quickly that nobody sees it.
    assertTrue(List.of(SessionState.READY, SessionState.QUEUED).contains(view.state()));
    awaitReady(gateway);
    down(gateway);
  }

  @Test
  void theFirstOfTwoQueuesStaysAlsoWhenNobodyWaits() throws Exception {
    places.fill("uni");
    GatewaySessions gateway = gateway("hpc", "uni");
    SessionView queued = gateway.upDetached(places.ask(), talk);
    until("it waits at both", () -> places.site("uni").waiting().size() == 1);
    assertTrue(queued.detail().contains("1 of 1"), queued.detail());

    places.free("uni");

    awaitReady(gateway);
    assertEquals("uni", gateway.list().getFirst().backend());
    until("hpc's place is given up", () -> waiting().isEmpty());
    down(gateway);
  }

  @Test
  void whatNeedsNodesSaysThatItIsQueued() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    gateway.upDetached(places.ask(), talk);

    for (var command :
        List.<Step>of(
            () -> gateway.sync(DEVBOX, false, Talk.silent()),
            () -> gateway.extend(DEVBOX, Optional.empty()),
            () -> gateway.pull(DEVBOX, 0, "train.py", Talk.silent()))) {
      var refused = assertThrows(GpushException.class, command::run);
      assertEquals(new SessionFailure.Queued("devbox", "1 of 1"), refused.failure());
    }
    down(gateway);
  }

  private interface Step {
    void run() throws Exception;
  }

  @Test
  void anotherRequestDiffersAndReplacesOnlyWhenToldTo() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    gateway.upDetached(places.ask(), talk);
    GangId first = waiting().orElseThrow();

    var differs = assertThrows(GpushException.class, () -> gateway.up(places.ask(4), talk));

    assertInstanceOf(SessionFailure.Differs.class, differs.failure());
    assertEquals(Optional.of(first), waiting());
    gateway.upDetached(SessionRig.replacing(places.ask(4)), talk);
    until("another one waits", () -> waiting().filter(gang -> !gang.equals(first)).isPresent());
    assertEquals(1, places.site("hpc").waiting().size());
    down(gateway);
  }

  @Test
  void theNextGatewayWaitsOnByItselfInTheSamePlace() throws Exception {
    GatewaySessions before = gateway("hpc");
    before.upDetached(places.ask(), talk);
    GangId asked = waiting().orElseThrow();

    before.close();

    assertEquals(Optional.of(asked), waiting());
    GatewaySessions next = gateway("hpc");
    next.recover();
    until(
        "it is shown with its place",
        () -> next.list().stream().anyMatch(view -> view.detail().equals("1 of 1")));
    places.free("hpc");
    awaitReady(next);
    assertEquals(asked, rig.gang(next.list().getFirst()));
    down(next);
  }

  /** As where a site rewrites the comments of jobs. */
  @Test
  void aPlaceThatIsNotListedIsKept() throws Exception {
    keepsUnlisted("hpc");
    places.fill("hpc");
    places.fill("uni");
    keepsUnlisted("hpc", "uni");
    places.free("uni");
  }

  private void keepsUnlisted(String... names) throws Exception {
    GatewaySessions before = gateway(names);
    before.upDetached(places.ask(), talk);
    until("hpc has the request, too", () -> waiting().isPresent()); // It returns with the first.
    GangId asked = waiting().orElseThrow();
    before.close();
    places.site("hpc").list(false);

    GatewaySessions next = gateway(names);
    next.recover();

    places.free("hpc");
    until(
        "it is ready, or over",
        () -> state(next).stream().allMatch(each -> each == SessionState.READY));
    assertEquals(asked, rig.gang(next.list().getFirst()));
    places.site("hpc").list(true);
    down(next);
    next.close();
  }

  @Test
  void aWaitingCommandIsLeftByAGatewayThatEndsAndThePlaceIsKept() throws Exception {
    GatewaySessions before = gateway("hpc");
    Command command = upAndWait(before, talk);
    GangId asked = waiting().orElseThrow();

    before.close();

    assertThrows(InterruptedException.class, command::get);
    assertEquals(Optional.of(asked), waiting());
    GatewaySessions next = gateway("hpc");
    next.recover();
    until("it waits on", () -> state(next).equals(List.of(SessionState.QUEUED)));
    down(next);
    assertEquals(Optional.empty(), waiting());
  }

  @Test
  void aPlaceThatCannotBeLookedAtIsKept() throws Exception {
    GatewaySessions before = gateway("hpc");
    before.upDetached(places.ask(), talk);
    GangId asked = waiting().orElseThrow();
    before.close();
    FakeTrouble trouble = places.trouble("hpc");
    trouble.fail(Operation.DISCOVER, Moment.BEFORE);
    trouble.fail(Operation.RESUME, Moment.BEFORE);
    FakeTrouble.Gate gate = trouble.hold(Operation.RESUME, Moment.BEFORE);

    GatewaySessions next = gateway("hpc");
    next.recover();

    gate.awaitReached();
    assertEquals(Optional.of(asked), waiting());
    gate.open();
    until(
        "why is shown, then its place",
        () -> next.list().stream().anyMatch(view -> view.detail().equals("1 of 1")));
    places.free("hpc");
    awaitReady(next);
    assertEquals(asked, rig.gang(next.list().getFirst()));
    down(next);
  }

  @Test
  void aRequestThatComesToNothingWhileNobodyWaitsIsToldOnce() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    gateway.upDetached(places.ask(), talk);
    places.cancel("hpc", waiting().orElseThrow());
    until("it is over", () -> gateway.list().isEmpty());
    until("it is remembered", () -> !gateway.ended().isEmpty());

    EndedRequest ended = gateway.ended().getFirst();
    assertEquals(DEVBOX, ended.session());
    assertEquals(
        "hpc could not provide the nodes; nothing is reserved: it was taken out of the queue",
        ended.why());
    gateway.close();
    GatewaySessions next = gateway("hpc");
    next.recover();
    assertEquals(List.of(ended), next.ended());

    next.upDetached(places.ask(), talk);

    assertTrue(
        talk.lines().stream().anyMatch(line -> line.endsWith(" ago, failed: " + ended.why())),
        talk.lines()::toString);
    assertEquals(List.of(), next.ended());
    down(next);
  }

  @Test
  void aPlaceThatWasLostWhileNoGatewayRanIsTold() throws Exception {
    GatewaySessions before = gateway("hpc");
    before.upDetached(places.ask(), talk);
    GangId asked = waiting().orElseThrow();
    before.close();
    places.cancel("hpc", asked);

    GatewaySessions next = gateway("hpc");
    next.recover();

    until("it is over", () -> next.list().isEmpty());
    until("it is remembered", () -> next.ended().size() == 1);
    // The gateway finds it gone when it looks, or hears it from the queue if it waits there
    // already.
    String why = next.ended().getFirst().why();
    assertTrue(
        why.equals("it left the queue, and no nodes were granted")
            || why.endsWith("it was taken out of the queue"),
        why);
  }

  @Test
  void nodesThatCannotBeReachedWhenTheyAreGrantedAreNotGivenBack() throws Exception {
    GatewaySessions gateway = gateway("hpc");
    gateway.upDetached(places.ask(), talk);
    GangId asked = waiting().orElseThrow();
    FakeTrouble.Gate spawned = places.trouble("hpc").hold(Operation.SPAWN, Moment.BEFORE);
    places.free("hpc");
    spawned.awaitReached();
    for (int again = 0; again < 3; again++) {
      places.trouble("hpc").fail(Operation.SPAWN, Moment.BEFORE);
    }
    spawned.open();

    awaitReady(gateway);

    assertEquals(asked, rig.gang(gateway.list().getFirst()));
    down(gateway);
  }
}
