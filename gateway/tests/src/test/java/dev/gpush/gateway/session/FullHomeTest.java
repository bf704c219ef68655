package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEADLINE;
import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fake.FakeTrouble.Gate;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nodes that were waited for stay although the ledger cannot be written when they are granted. */
final class FullHomeTest {
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

  private Path ledger() {
    return rig.home().resolve("ledger");
  }

  /** The entries stay as they are, and none can be written. */
  private void fillDisk() throws IOException {
    Files.move(ledger(), rig.path("aside"));
    Files.writeString(ledger(), "");
  }

  private void makeRoom() throws IOException {
    Files.delete(ledger());
    Files.move(rig.path("aside"), ledger());
  }

  private GatewaySessions gateway(String... names) {
    List<Backend> all = List.of(names).stream().map(places::queueing).toList();
    return rig.gateway(all, DEADLINE);
  }

  private static void awaitState(GatewaySessions gateway, SessionState state) {
    until(
        () -> state.word() + ", not " + gateway.list(),
        () -> SessionRig.states(gateway).equals(List.of(state)));
  }

  private static void awaitWaits(GatewaySessions gateway, String... words) {
    for (String each : words) {
      until(each, () -> gateway.list().stream().anyMatch(view -> view.detail().contains(each)));
    }
  }

  @Test
  void nothingIsRequestedThatCannotBeWrittenFirst() throws Exception {
    Files.writeString(ledger(), "");
    GatewaySessions gateway = gateway("hpc");

    var failed = assertThrows(GpushException.class, () -> gateway.up(places.ask(), talk));

    assertInstanceOf(GatewayFailure.HomeUnusable.class, failed.failure());
    assertEquals(List.of(), gateway.list());
  }

  @Test
  void whatIsGrantedAtOnceStaysAndTheUserIsTold() throws Exception {
    Gate reserves = places.trouble("rack").hold(Operation.RESERVE, Moment.BEFORE);
    GatewaySessions gateway = rig.gateway(List.of(places.plain("rack")), DEADLINE);
    Task<SessionView, RuntimeException> up =
        rig.tasks().fork("up", () -> gateway.up(places.ask(), talk));
    reserves.awaitReached();

    fillDisk();
    reserves.open();

    assertEquals(SessionState.READY, up.get(DEADLINE).state());
    assertTold();
    gateway.down(DEVBOX, true, talk);
  }

  private void assertTold() {
    assertTrue(
        talk.lines().stream()
            .anyMatch(line -> line.startsWith("devbox is ready, but this cannot be recorded: ")),
        talk.lines()::toString);
  }

  @Test
  void whatWasWaitedForStaysAndTheNextGatewayHasIt() throws Exception {
    places.fill("hpc");
    GatewaySessions gateway = gateway("hpc");
    Task<SessionView, RuntimeException> up =
        rig.tasks().fork("up", () -> gateway.up(places.ask(), talk));
    awaitWaits(gateway, "1 of 1");
    GangId asked = places.site("hpc").waiting().getFirst().gang();

    fillDisk();
    places.free("hpc");

    assertEquals(SessionState.READY, up.get(DEADLINE).state());
    assertEquals(List.of(asked), places.held().get("hpc"));
    assertTold();
    gateway.close();
    makeRoom();
    GatewaySessions next = gateway("hpc");
    next.recover();
    awaitState(next, SessionState.READY);
    assertEquals(asked, rig.gang(next.list().getFirst()));
    next.down(DEVBOX, true, talk);
  }

  @Test
  void aBackendThatFailsDoesNotEndTheWaitAtAnother() throws Exception {
    places.fill("hpc");
    places.fill("uni");
    GatewaySessions gateway = gateway("hpc", "uni");
    Task<SessionView, RuntimeException> up =
        rig.tasks().fork("up", () -> gateway.up(places.ask(), talk));
    awaitWaits(gateway, "hpc: 1 of 1", "uni: 1 of 1");

    fillDisk();
    places.cancel("hpc", places.site("hpc").waiting().getFirst().gang());
    until("it is named", () -> talk.lines().stream().anyMatch(line -> line.startsWith("hpc ")));
    places.free("uni");

    assertEquals("uni", up.get(DEADLINE).backend());
    gateway.down(DEVBOX, true, talk);
  }

  /** As a leak it would be released by the next gateway. */
  @Test
  void aGrantThatARestartedGatewayFindsIsNoLeak() throws Exception {
    places.fill("hpc");
    GatewaySessions before = gateway("hpc");
    before.upDetached(places.ask(), talk);
    before.close();
    places.free("hpc");
    Gate looks = places.trouble("hpc").hold(Operation.DISCOVER, Moment.BEFORE);
    GatewaySessions gateway = gateway("hpc");
    gateway.recover();
    looks.awaitReached();

    fillDisk();
    looks.open();

    awaitState(gateway, SessionState.READY);
    gateway.down(DEVBOX, true, Talk.silent());
  }
}
