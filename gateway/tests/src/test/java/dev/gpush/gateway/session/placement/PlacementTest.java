package dev.gpush.gateway.session.placement;

import static dev.gpush.gateway.session.SessionRig.DEADLINE;
import static dev.gpush.gateway.session.SessionRig.SHORT;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.task.Task;
import dev.gpush.gateway.session.FakeTalk;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.Places;
import dev.gpush.gateway.session.SessionRig;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Several backends with real agents: who is asked, and what of it is in the ledger when. */
@Execution(ExecutionMode.CONCURRENT)
final class PlacementTest {
  private SessionRig rig;
  private Places places;
  private final FakeTalk talk = FakeTalk.answering(true);

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.calm();
    places = new Places(rig);
  }

  @AfterEach
  void end() throws Exception {
    try {
      places.assertNothingHeld();
    } finally {
      rig.close();
    }
  }

  private GatewaySessions sessions(Backend... all) {
    return rig.gateway(List.of(all), DEADLINE);
  }

  private SessionView up(GatewaySessions sessions) throws Exception {
    return sessions.up(places.ask(), talk);
  }

  private void down(GatewaySessions sessions) throws InterruptedException {
    sessions.down(SessionRig.DEVBOX, true, talk);
  }

  private LedgerEntry entry() {
    return rig.ledger().load().getLast();
  }

  @Test
  void takesWhereItIsFreeNowAndSaysWhy() throws Exception {
    places.fill("hpc");
    GatewaySessions sessions = sessions(places.queueing("hpc"), places.plain("rack"));

    SessionView view = up(sessions);

    assertEquals("rack", view.backend());
    assertTrue(
        talk.lines().contains("on rack: free now; hpc would be ≈10m"), talk.lines()::toString);
    assertEquals(List.of(), places.site("hpc").waiting());
    down(sessions);
  }

  @Test
  void podsAreAttachedToOnABackendThatHasSome() throws Exception {
    Files.writeString(
        rig.path("home/config.yaml"), "backends: {cw: {kind: kubernetes}, hpc: {kind: local}}\n");
    UpRequest asked = places.ask();
    UpRequest attaching = asked.wanting(asked.wanted().attach(Optional.of("job/train")));
    GatewaySessions sessions = sessions(places.plain("hpc"));

    var refused = assertThrows(GpushException.class, () -> sessions.up(attaching, talk));

    assertEquals(
        new BackendFailure.NeverFits(
            "hpc", "only a Kubernetes backend has pods to attach to", List.of("--backend cw")),
        refused.failure());
  }

  @Test
  void aSilentBackendDoesNotHoldUpTheOthersAndIsNamed() throws Exception {
    FakeTrouble.Gate silent = places.trouble("hpc").hold(Operation.PLAN, Moment.BEFORE);
    GatewaySessions sessions =
        rig.gateway(List.of(places.queueing("hpc"), places.plain("rack")), SHORT);

    SessionView view = up(sessions);

    assertEquals("rack", view.backend());
    assertTrue(
        talk.lines().stream().anyMatch(line -> line.contains("; hpc did not answer: ")),
        talk.lines()::toString);
    silent.open();
    down(sessions);
  }

  @Test
  void whatNobodyCanEverGrantHasEverybodysReason() throws Exception {
    GatewaySessions sessions = sessions(places.queueing("hpc"), places.plain("rack"));

    GpushException thrown =
        assertThrows(GpushException.class, () -> sessions.up(places.ask(9), talk));

    var nowhere = assertInstanceOf(BackendFailure.Nowhere.class, thrown.failure());
    assertEquals(
        List.of("hpc", "rack"),
        nowhere.refusals().stream().map(BackendFailure.Refusal::backend).toList());
    assertEquals(List.of(), rig.ledger().load());
  }

  @Test
  void fallsOverToTheNextBestAndSaysSo() throws Exception {
    places.trouble("rack").fail(Operation.RESERVE, Moment.AFTER);
    GatewaySessions sessions = sessions(places.plain("rack"), places.plain("lab"));

    SessionView view = up(sessions);

    assertEquals("lab", view.backend());
    assertTrue(
        talk.lines()
            .contains("rack: fake cannot be used: pretended failure AFTER RESERVE; trying lab"),
        talk.lines()::toString);
    until("rack is proved free", () -> entry().others().isEmpty());
    down(sessions);
  }

  @Test
  void thisMachineIsTakenForNoBackendThatFailedUnlessItIsNamed() throws Exception {
    places.trouble("cw").fail(Operation.RESERVE, Moment.BEFORE);
    GatewaySessions sessions = sessions(places.plain("cw"), places.local("here"));

    GpushException thrown =
        assertThrows(GpushException.class, () -> sessions.up(places.ask(0), talk));

    assertInstanceOf(BackendFailure.Unavailable.class, thrown.failure());
    assertEquals(List.of(), rig.ledger().load());
    Files.writeString(
        rig.path("home/config.yaml"),
        """
        defaults: {backends: [cw, here]}
        backends: {cw: {kind: local}, here: {kind: local}}
        """);
    places.trouble("cw").fail(Operation.RESERVE, Moment.BEFORE);
    assertEquals("here", sessions.up(places.ask(0), talk).backend());
    until("cw is proved free", () -> entry().others().isEmpty());
    down(sessions);
  }

  @Test
  void whatAGangCostsIsKnownWhereThereIsAPrice() throws Exception {
    Files.writeString(
        rig.path("home/config.yaml"),
        "backends: {cw: {kind: kubernetes, price: {H100: 2.5}}, rack: {kind: local}}\n");
    GatewaySessions sessions = sessions(places.plain("cw"));
    UpRequest asked = places.ask();
    var gpus = Optional.of(GpuRequest.parse("H100:1"));

    SessionView view =
        sessions.up(asked.wanting(asked.wanted().size(asked.wanted().nodes(), gpus)), talk);

    SessionView.Cost cost = view.place().cost().orElseThrow();
    assertEquals(2.5 * view.size() * view.gpus().count(), cost.hour());
    assertEquals(cost.hour() * 2, new SessionView.Cost(cost.hour(), Duration.ofHours(2)).soFar());
    down(sessions);
  }

  @Test
  void thisMachineIsNotAskedForAnImage() throws Exception {
    GatewaySessions sessions = sessions(places.local("here"), places.plain("cw"));
    assertEquals(List.of("here", "cw"), asked(sessions));

    Files.writeString(rig.path("project/gpush.yaml"), "image: acme/train:1\n");

    assertEquals(List.of("cw"), asked(sessions));
    assertEquals(List.of("here"), asked(sessions(places.local("here"))));
  }

  private List<String> asked(GatewaySessions sessions) throws InterruptedException {
    return sessions.plan(places.ask(0)).offers().stream().map(Outlook.Offer::backend).toList();
  }

  @Test
  void fallsOverFromNowToAQueue() throws Exception {
    places.fill("hpc");
    places.trouble("rack").fail(Operation.RESERVE, Moment.BEFORE);
    GatewaySessions sessions = sessions(places.plain("rack"), places.queueing("hpc"));
    Task<SessionView, Exception> waiting = rig.tasks().fork("up", () -> up(sessions));
    until("it waits at hpc", () -> places.site("hpc").waiting().size() == 1);

    places.free("hpc");

    assertEquals("hpc", waiting.get().backend());
    down(sessions);
  }

  @Test
  void waitsInSeveralQueuesAndKeepsTheFirstWholeGang() throws Exception {
    places.fill("hpc");
    places.fill("uni");
    GatewaySessions sessions = sessions(places.queueing("hpc"), places.queueing("uni"));
    Task<SessionView, Exception> waiting = rig.tasks().fork("up", () -> up(sessions));
    until(
        "it waits at both",
        () -> places.site("hpc").waiting().size() == 1 && places.site("uni").waiting().size() == 1);
    var intents = new ArrayList<>(entry().reservation().wanted().stream().map(Bid::gang).toList());
    assertEquals(places.site("hpc").waiting().getFirst().gang(), intents.removeFirst());
    assertEquals(places.site("uni").waiting().getFirst().gang(), intents.removeFirst());

    places.free("uni");

    assertEquals("uni", waiting.get().backend());
    assertTrue(talk.lines().contains("uni was first to provide the nodes"), talk.lines()::toString);
    until("hpc's place is given up", () -> places.site("hpc").waiting().isEmpty());
    until("and that is proved", () -> entry().others().isEmpty());
    down(sessions);
  }

  @Test
  void whoFailsWhileSeveralWaitIsNamedAndTheOthersGoOn() throws Exception {
    places.fill("hpc");
    places.fill("uni");
    places.trouble("hpc").fail(Operation.RESERVE, Moment.BEFORE);
    GatewaySessions sessions = sessions(places.queueing("hpc"), places.queueing("uni"));
    Task<SessionView, Exception> waiting = rig.tasks().fork("up", () -> up(sessions));
    until("it waits at uni", () -> places.site("uni").waiting().size() == 1);
    until(
        "hpc is named",
        () -> talk.lines().stream().anyMatch(line -> line.startsWith("hpc: fake cannot be used")));

    places.free("uni");

    assertEquals("uni", waiting.get().backend());
    until("hpc is proved free", () -> entry().others().isEmpty());
    down(sessions);
  }

  @Test
  void whoCancelsTheWaitLeavesNoPlaceInAnyQueue() throws Exception {
    places.fill("hpc");
    places.fill("uni");
    GatewaySessions sessions = sessions(places.queueing("hpc"), places.queueing("uni"));
    var thread = new java.util.concurrent.CompletableFuture<Thread>();
    Task<SessionView, Exception> waiting =
        rig.tasks()
            .fork(
                "up",
                () -> {
                  thread.complete(Thread.currentThread());
                  return up(sessions);
                });
    until(
        "it waits at both",
        () -> places.site("hpc").waiting().size() == 1 && places.site("uni").waiting().size() == 1);

    talk.cancel();
    thread.get().interrupt();

    assertThrows(InterruptedException.class, waiting::get);
    assertEquals(List.of(), places.site("hpc").waiting());
    assertEquals(List.of(), places.site("uni").waiting());
    assertEquals(List.of(), rig.ledger().load());
  }

  @Test
  void aGangThatCannotBeGivenUpStaysInTheLedgerUntilItIs() throws Exception {
    places.fill("hpc");
    places.fill("uni");
    GatewaySessions sessions = sessions(places.queueing("hpc"), places.queueing("uni"));
    Task<SessionView, Exception> waiting = rig.tasks().fork("up", () -> up(sessions));
    until(
        "it waits at both",
        () -> places.site("hpc").waiting().size() == 1 && places.site("uni").waiting().size() == 1);
    FakeTrouble.Gate away = places.trouble("hpc").hold(Operation.RELEASE, Moment.BEFORE);

    places.free("uni");

    assertEquals("uni", waiting.get().backend());
    away.awaitReached();
    assertEquals(1, entry().others().size());
    assertTrue(
        sessions.doctor().stream()
            .anyMatch(finding -> finding.detail().endsWith("being cancelled")));
    assertEquals("cancelling its requests to hpc", sessions.list().getFirst().detail());
    away.open();
    until("it is proved", () -> entry().others().isEmpty());
    down(sessions);
  }

  /** What {@code up --dry-run} says of a session that waits is about the session's own request. */
  @Test
  void aWaitingRequestKnowsWhatPartOfItWouldBeGranted() throws Exception {
    GatewaySessions sessions = sessions(places.queueing("hpc"));
    Path project = rig.project("project");
    UpRequest big = SessionRig.ask(project).named(Optional.of(new SessionName("big")));
    sessions.up(SessionRig.sized(SessionRig.ask(project), 1, "5"), talk);
    Task<SessionView, Exception> waiting =
        rig.tasks().fork("up", () -> sessions.up(SessionRig.sized(big, 2, "2"), talk));
    until(
        "it waits",
        () -> sessions.list().stream().anyMatch(view -> view.state() == SessionState.QUEUED));

    assertEquals(
        Map.of("hpc", new Outlook.Smaller(1, GpuRequest.parse("2"))), sessions.plan(big).smaller());
    assertEquals(
        Map.of("hpc", new Outlook.Smaller(1, GpuRequest.parse("3"))),
        sessions.plan(SessionRig.sized(big, 1, "6")).smaller());

    down(sessions);
    assertEquals("big", waiting.get().name().text());
    assertEquals(Map.of(), sessions.plan(SessionRig.sized(big, 1, "3")).smaller());
    sessions.down(new SessionName("big"), true, talk);
  }
}
