package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.awaitSettled;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.Reservation;
import dev.gpush.ssh.connection.Route;
import dev.gpush.testkit.fake.FakeBackend;
import dev.gpush.testkit.fake.FakeSite;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.FakeTrouble.Gate;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import dev.gpush.testkit.fake.ManualClock;
import dev.gpush.testkit.fake.PassingBackend;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
final class RecoveryTest {
  private SessionRig rig;

  @BeforeEach
  void begin() throws IOException {
    rig = SessionRig.calm();
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  /** A session that an earlier gateway made, as its ledger entry. */
  private LedgerEntry made(String folder, int nodes) throws Exception {
    GatewaySessions before = rig.gateway();
    SessionView view = before.up(ask(rig.project(folder), nodes), Talk.silent());
    before.close();
    return rig.ledger().load().stream()
        .filter(entry -> entry.id().equals(view.id()))
        .findFirst()
        .orElseThrow();
  }

  /** As it was before the grant had come back. */
  private static LedgerEntry ungranted(LedgerEntry has, SessionState state) {
    return new LedgerEntry(
        has.identity(),
        has.keeper(),
        has.asked(),
        has.lease(),
        Reservation.of(has.backend(), has.gang(), has.reservation().inherit()),
        new LedgerEntry.Status(state, "", has.status().foreign(), has.status().trace()));
  }

  private GatewaySessions recovered() {
    GatewaySessions gateway = rig.gateway();
    gateway.recover();
    return gateway;
  }

  private LedgerEntry recordedEntry(LedgerEntry entry) {
    return rig.ledger().load().stream()
        .filter(each -> each.id().equals(entry.id()))
        .findFirst()
        .orElseThrow();
  }

  private SessionState recorded(LedgerEntry entry) {
    return recordedEntry(entry).state();
  }

  @Test
  void everyStateEndsReadyOrReleased() throws Exception {
    GatewaySessions before = rig.gateway();
    Map<SessionState, GangId> gangs = new EnumMap<>(SessionState.class);
    Map<SessionState, SessionName> names = new EnumMap<>(SessionState.class);
    for (SessionState state : SessionState.values()) {
      SessionView view = before.up(ask(rig.project(state.word()), 1), Talk.silent());
      gangs.put(state, rig.gang(view));
      names.put(state, view.name());
    }
    before.close();
    for (LedgerEntry entry : rig.ledger().load()) {
      SessionState state =
          SessionState.valueOf(
              entry.root().getFileName().toString().toUpperCase(java.util.Locale.ROOT));
      rig.ledger()
          .put(
              state == SessionState.ASKED || state == SessionState.QUEUED
                  ? ungranted(entry, state)
                  : entry.in(state, ""));
    }

    GatewaySessions gateway = recovered();
    until(
        "all are ready",
        () -> SessionRig.states(gateway).stream().allMatch(state -> state == SessionState.READY));

    for (SessionState state : SessionState.values()) {
      boolean isThere =
          gateway.list().stream()
              .anyMatch(
                  view ->
                      view.name().equals(names.get(state))
                          && view.state() == SessionState.READY
                          && rig.gang(view).equals(gangs.get(state)));
      boolean isHeld =
          rig.held().stream().anyMatch(found -> found.gang().id().equals(gangs.get(state)));
      switch (state) {
        case ASKED, QUEUED, GRANTED, READY, DEGRADED -> assertTrue(isThere && isHeld, state.word());
        case RELEASING, LEAKED -> assertFalse(isThere || isHeld, state.word());
        // The ledger lied; doctor finds out.
        case RELEASED -> assertTrue(!isThere && isHeld, state.word());
      }
    }
    Sessions.Finding worst = gateway.doctor().getFirst();
    assertEquals("bad", worst.status());
    assertTrue(worst.detail().startsWith("still held"), worst.detail());
  }

  /** Of a configuration that leads to another site since a user has switched there. */
  private record Sites(Map<String, FakeBackend> all, String now) implements Places {
    Backend configured() {
      return all.get(now).with(this);
    }

    @Override
    public Backend at(String place) {
      return all.get(place);
    }
  }

  @Test
  void gangsStayWhereTheyAreWhenTheConfigurationLeadsElsewhere() throws Exception {
    var elsewhere = new FakeSite(rig.path("west"), 8, new ManualClock(), FakeTrouble.none(1));
    var west = FakeBackend.withAgents(SessionRig.BACKEND, elsewhere, rig.agent());
    Map<String, FakeBackend> sites = Map.of("east", rig.backend(), "west", west);
    GatewaySessions before =
        rig.gateway(List.of(new Sites(sites, "east").configured()), SessionRig.SHORT);
    GangId ready = rig.gang(before.up(ask(rig.project("ready"), 1), Talk.silent()));
    GangId asked = rig.gang(before.up(ask(rig.project("asked"), 1), Talk.silent()));
    before.close();
    for (LedgerEntry entry : rig.ledger().load()) {
      if (entry.gang().equals(asked)) {
        LedgerEntry ungranted = ungranted(entry, SessionState.ASKED);
        rig.ledger().put(ungranted.with(ungranted.reservation().only(entry.reservation().first())));
      }
    }

    GatewaySessions gateway =
        rig.gateway(List.of(new Sites(sites, "west").configured()), SessionRig.SHORT);
    gateway.recover();

    until(
        "both are ready",
        () -> SessionRig.states(gateway).equals(List.of(SessionState.READY, SessionState.READY)));
    assertEquals(
        Set.of(ready, asked),
        rig.held().stream().map(found -> found.gang().id()).collect(Collectors.toSet()));
    for (SessionView view : gateway.list()) {
      gateway.down(view.name(), true, Talk.silent());
    }
    rig.assertNothingLeft(gateway);
  }

  @Test
  void anIntentWithoutAGangIsForgotten() throws Exception {
    rig.ledger().put(ungranted(new LedgerEntries(5).any(SessionState.ASKED), SessionState.ASKED));

    GatewaySessions gateway = recovered();

    until("it is forgotten", () -> gateway.list().isEmpty());
    assertEquals(0, rig.ledger().load().size());
  }

  @Test
  void anIntentWithoutAGangIsForgottenAlsoWhereNothingCanBeSwept() throws Exception {
    rig.ledger().put(ungranted(new LedgerEntries(6).any(SessionState.ASKED), SessionState.ASKED));
    rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);

    GatewaySessions gateway = recovered();

    until("it is forgotten", () -> gateway.list().isEmpty());
    assertEquals(0, rig.ledger().load().size());
  }

  @Test
  void halfAGangIsReleased() throws Exception {
    LedgerEntry entry = made("project", 2);
    rig.ledger().put(ungranted(entry, SessionState.ASKED));
    rig.site().kill(entry.gang(), 1);
    var released = new CopyOnWriteArrayList<List<Integer>>();
    var watched =
        new PassingBackend(rig.backend()) {
          @Override
          public List<String> release(Gang gang, Duration limit) throws InterruptedException {
            released.add(gang.nodes().stream().map(NodeInfo::index).toList());
            return super.release(gang, limit);
          }
        };

    GatewaySessions gateway = rig.gateway(List.of(watched), SessionRig.SHORT);
    gateway.recover();

    until("it is gone", () -> gateway.list().isEmpty());
    // Without its nodes, a rack would need an answer of every host.
    assertEquals(List.of(List.of(0)), released);
    rig.assertNothingLeft(gateway);
  }

  @Test
  void aBackendThatCannotBeReachedIsAskedOnce() throws Exception {
    LedgerEntry entry = made("project", 1);
    rig.ledger().put(ungranted(entry, SessionState.ASKED));
    var asked = new AtomicInteger();
    var away =
        new Away(rig.backend()) {
          @Override
          public List<Discovered> discover(String owner) {
            asked.incrementAndGet();
            return super.discover(owner);
          }
        };

    GatewaySessions gateway = rig.gateway(List.of(away), SessionRig.SHORT);
    gateway.recover();

    until("it is leaked", () -> SessionRig.states(gateway).equals(List.of(SessionState.LEAKED)));
    assertEquals(1, asked.get());
    gateway.down(DEVBOX, false, Talk.silent());
  }

  /** It cannot be asked what it holds. */
  private static class Away extends PassingBackend {
    Away(Backend beneath) {
      super(beneath);
    }

    @Override
    public List<Discovered> discover(String owner) {
      throw new GpushException(new BackendFailure.Unavailable(name(), "it is away", ""));
    }
  }

  @Test
  void aQueueDoesNotWaitForTheReasonOfABackendThatIsGivenUp() throws Exception {
    var asking = new CountDownLatch(1);
    Capabilities.RequestQueue queue =
        (_, _) -> {
          asking.countDown();
          new CountDownLatch(1).await();
          throw new AssertionError();
        };
    var hpc =
        new PassingBackend(rig.backend()) {
          @Override
          public String name() {
            return "hpc";
          }

          @Override
          public Capabilities capabilities() {
            return super.capabilities().with(Capabilities.RequestQueue.class, queue);
          }

          @Override
          public List<Discovered> discover(String owner) {
            return List.of();
          }

          @Override
          public Observation observe(Gang gang) {
            return new Observation.Exists();
          }
        };
    var away = new Away(rig.backend());
    LedgerEntry entry = ungranted(made("project", 1), SessionState.QUEUED);
    Reservation one = entry.reservation();
    List<Bid> both = List.of(one.first(), Bid.of(hpc, new GangId("0123456789abcdef")));
    rig.ledger().put(entry.with(one.asking(both, one.inherit())));

    GatewaySessions gateway = rig.gateway(List.of(away, hpc), SessionRig.SHORT);
    gateway.recover();

    asking.await();
    assertEquals("checking whether its request still exists", recordedEntry(entry).detail());
  }

  @Test
  void aGangThatWentAwayMeanwhileEndsWithAReason() throws Exception {
    LedgerEntry entry = made("project", 1);
    rig.site().kill(entry.gang(), 0);

    GatewaySessions gateway = recovered();

    until("it is gone", () -> gateway.list().isEmpty());
    rig.assertNothingLeft(gateway);
    assertEquals("dead nodes: [0]", rig.ledger().load().getFirst().detail());
  }

  @Test
  void aNodeThatCannotBeReachedAtFirstIsNoLeak() throws Exception {
    LedgerEntry entry = made("project", 1);
    rig.trouble().fail(Operation.SPAWN, Moment.BEFORE);
    rig.trouble().fail(Operation.SPAWN, Moment.BEFORE);

    GatewaySessions gateway = recovered();

    until(
        "it is linked",
        () -> SessionRig.states(gateway).equals(java.util.List.of(SessionState.READY)));
    assertEquals(SessionState.READY, recorded(entry));
  }

  @Test
  void theOtherNodesAreThereWhileOneIsAway() throws Exception {
    made("project", 2);
    rig.trouble().away(1);

    GatewaySessions gateway = recovered();

    var there = assertInstanceOf(Route.Node.class, gateway.routes().route("devbox"));
    assertEquals(0, there.link().call("status", Json.object()).integer("node").orElseThrow());
    assertEquals(List.of(SessionState.DEGRADED), SessionRig.states(gateway));
    var away = assertInstanceOf(Route.Node.class, gateway.routes().route("devbox-1"));
    var waits = away.link().ask("status", Json.object());
    assertFalse(waits.isDone());
    rig.trouble().back(1);
    assertEquals(1, waits.get().integer("node").orElseThrow());
    until("it is whole", () -> SessionRig.states(gateway).equals(List.of(SessionState.READY)));
  }

  @Test
  void aSessionWhoseNodesAreAllAwayIsFoundOnceTheyAreBack() throws Exception {
    made("project", 2);
    rig.trouble().away(0);
    rig.trouble().away(1);
    rig.trouble().hold(Operation.SPAWN, Moment.BEFORE).open();
    rig.trouble().hold(Operation.SPAWN, Moment.BEFORE).open();
    Gate again = rig.trouble().hold(Operation.SPAWN, Moment.BEFORE);

    GatewaySessions gateway = recovered();

    // One of the two nodes is tried a second time.
    again.awaitReached();
    rig.trouble().back(0);
    rig.trouble().back(1);
    again.open();
    until("it is whole", () -> SessionRig.states(gateway).equals(List.of(SessionState.READY)));
  }

  @Test
  void aClientThatLeavesWhileItLinksASessionDoesNotEndTheLinksOfAnother() throws Exception {
    made("project", 1);
    rig.trouble().fail(Operation.OBSERVE, Moment.BUG); // Leaves the links to the first client.
    Gate gate = rig.trouble().hold(Operation.SPAWN, Moment.BEFORE);
    GatewaySessions gateway = recovered();
    Task<Route, RuntimeException> leaves =
        rig.tasks().fork("ssh", () -> gateway.routes().route("devbox"));
    gate.awaitReached();
    var stays = assertInstanceOf(Route.Node.class, gateway.routes().route("devbox"));
    var asked = stays.link().ask("status", Json.object());

    leaves.cancel();
    leaves.join();
    gate.open();

    assertEquals(0, asked.get().integer("node").orElseThrow());
  }

  @Test
  void aReleaseThatFailsAgainStaysALeakUntilDown() throws Exception {
    LedgerEntry entry = made("project", 1);
    rig.ledger().put(entry.in(SessionState.RELEASING, ""));
    rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);

    GatewaySessions gateway = recovered();

    until(
        "it is leaked",
        () -> SessionRig.states(gateway).equals(java.util.List.of(SessionState.LEAKED)));
    gateway.down(DEVBOX, false, Talk.silent());
    rig.assertNothingLeft(gateway);
  }

  @Test
  void aCommandThatComesMeanwhileWaitsAndWorks() throws Exception {
    LedgerEntry entry = made("project", 1);
    rig.ledger().put(ungranted(entry, SessionState.ASKED));
    Gate gate = rig.trouble().hold(Operation.DISCOVER, Moment.BEFORE);
    GatewaySessions gateway = recovered();
    gate.awaitReached();
    var talk = FakeTalk.answering(true);
    Task<SessionView, IOException> up =
        rig.tasks().fork("up", () -> gateway.up(ask(rig.project("project"), 1), talk));
    until("it waits", () -> talk.lines().contains("waiting for recovery of devbox"));
    gate.open();

    SessionView found = up.get(SessionRig.DEADLINE);

    assertEquals(entry.id(), found.id());
    assertFalse(found.isNew());
    assertEquals(SessionState.READY, found.state());
    rig.assertOneGang();
  }

  @Test
  void closingWhileRecoveryWaitsIsPrompt() throws Exception {
    LedgerEntry entry = made("project", 1);
    rig.ledger().put(ungranted(entry, SessionState.ASKED));
    Gate gate = rig.trouble().hold(Operation.DISCOVER, Moment.BEFORE);
    GatewaySessions gateway = recovered();
    gate.awaitReached();

    // The gate stays closed: it does not wait for recovery.
    gateway.close();

    assertFalse(recorded(entry).isOver());
    rig.assertOneGang();
  }

  @Test
  void closingWhileRecoveryLooksLeavesTheSessionToTheNext() throws Exception {
    LedgerEntry entry = made("project", 1);
    Gate gate = rig.trouble().hold(Operation.OBSERVE, Moment.BEFORE);
    GatewaySessions gateway = recovered();
    gate.awaitReached();
    gateway.close();

    assertEquals(SessionState.READY, recorded(entry));
    GatewaySessions next = recovered();
    until(
        "it is taken over",
        () -> SessionRig.states(next).equals(java.util.List.of(SessionState.READY)));
  }

  @Test
  void aSessionOfABackendThatIsNotConfiguredAnyMoreIsNotForgotten() throws Exception {
    LedgerEntry any = new LedgerEntries(6).any(SessionState.READY);
    rig.ledger()
        .put(LedgerEntry.from(any.json().with("backend", "hpc").with("grant", Optional.empty())));

    GatewaySessions gateway = recovered();

    Sessions.Finding finding = gateway.doctor().getFirst();
    assertEquals("bad", finding.status());
    assertTrue(finding.detail().contains("hpc"), finding.detail());
    // A leak would be released, with its runs, by the gateway that has the backend again.
    assertEquals(SessionState.READY, recorded(any));
  }

  @Test
  void twoSessionsOfOneNameAreBothThere() throws Exception {
    LedgerEntry one = made("project", 1);
    LedgerEntry two = made("other", 1);
    assertEquals(one.name(), two.name());

    GatewaySessions gateway = recovered();
    awaitSettled(gateway);

    assertEquals(
        java.util.Set.of("devbox", "devbox2"),
        gateway.list().stream()
            .map(view -> view.name().text())
            .collect(java.util.stream.Collectors.toSet()));
    assertEquals(2, rig.held().size());
    gateway.down(new SessionName("devbox2"), true, Talk.silent());
    gateway.down(DEVBOX, true, Talk.silent());
    rig.assertNothingLeft(gateway);
  }
}
