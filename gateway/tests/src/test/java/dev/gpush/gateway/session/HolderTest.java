package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import dev.gpush.testkit.fake.PassingBackend;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A home keeps its sessions whatever its machine is called; another machine only looks on. */
final class HolderTest {
  private static final String MACHINE = "0a1b2c3d4e5f";
  private static final String HOME = "5f4e3d2c1b0a";
  private static final String HERE = "ann@here:/home/ann/.gpush";
  private static final String THERE = "ann@there:/home/ann/.gpush";
  private static final Holder ELSEWHERE = Holder.of(THERE, "ffffffffffff", HOME);

  private SessionRig rig;
  private Path project;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.calm();
    project = rig.project("project");
  }

  @AfterEach
  void end() throws Exception {
    rig.close();
  }

  private GatewaySessions gateway(Holder holder) {
    GatewaySessions gateway = rig.gateway(holder, List.of(rig.backend()));
    gateway.recover();
    return gateway;
  }

  /** Made, and left behind by a gateway that ended. */
  private SessionView made(Holder by) throws Exception {
    GatewaySessions gateway = gateway(by);
    SessionView view = gateway.up(ask(project, 2), Talk.silent());
    gateway.close();
    return view;
  }

  private static Holder named(String words) {
    return Holder.of(words, MACHINE, HOME);
  }

  private static void awaitReady(GatewaySessions gateway) {
    until("it is ready", () -> SessionRig.states(gateway).equals(List.of(SessionState.READY)));
  }

  private static void awaitLooksOn(GatewaySessions gateway, String holder) {
    until(
        "it looks on",
        () ->
            gateway
                .list()
                .getFirst()
                .detail()
                .equals("held by " + holder + "; gpush up takes it over"));
  }

  /** By an answer of the queue to it: the other machine has written the same place in the entry. */
  private static void awaitWaits(GatewaySessions gateway) {
    until(
        "it waits there, too",
        () ->
            gateway.find(SessionRig.DEVBOX).pending().isPresent()
                && gateway.list().getFirst().detail().equals("1 of 1"));
  }

  private LedgerEntry entry() {
    return rig.ledger().load().getFirst();
  }

  @Test
  void aRenamedMachineGoesOnWithItsSessions() throws Exception {
    SessionView made = made(named(HERE));

    GatewaySessions renamed = gateway(named(THERE));

    awaitReady(renamed);
    assertEquals(made.id(), renamed.list().getFirst().id());
    assertEquals(LedgerEntry.FIRST_TERM, entry().keeper().term(), "nothing had to be taken over");
    renamed.sync(SessionRig.DEVBOX, false, Talk.silent());
  }

  @Test
  void anotherMachineWithTheSameHomeLooksOnAndNamesTheHolderWithoutItsId() throws Exception {
    GatewaySessions login1 = gateway(named(HERE));
    login1.up(ask(project, 2), Talk.silent());

    GatewaySessions login2 = gateway(ELSEWHERE);

    awaitLooksOn(login2, HERE);
    assertEquals(List.of(SessionState.READY), SessionRig.states(login1));
  }

  @Test
  void ofTwoMachinesThatWaitInOneQueueTheOneWithTheUserGetsTheGang() throws Exception {
    var places = new Places(rig);
    places.fill("hpc");
    List<Backend> queue = List.of(places.queueing("hpc"));
    GatewaySessions login1 = rig.gateway(named(HERE), queue);
    Task<SessionView, RuntimeException> up =
        rig.tasks().fork("up", () -> login1.up(places.ask(), Talk.silent()));
    until("it waits", () -> SessionRig.states(login1).equals(List.of(SessionState.QUEUED)));
    GatewaySessions login2 = rig.gateway(ELSEWHERE, queue);
    login2.recover();
    awaitWaits(login2);

    places.free("hpc");

    assertEquals(SessionState.READY, up.get(SessionRig.DEADLINE).state());
    awaitLooksOn(login2, HERE);
    // It takes its turn when the request there is over.
    var refused =
        assertThrows(
            GpushException.class, () -> login2.sync(SessionRig.DEVBOX, false, Talk.silent()));
    assertInstanceOf(AgentFailure.Superseded.class, refused.failure());
    assertEquals(List.of(entry().gang()), places.held().get("hpc"));
    login1.down(SessionRig.DEVBOX, true, Talk.silent());
    until("it is gone there, too", () -> login2.list().isEmpty());
    places.assertNothingHeld();
  }

  /** Each had linked one node and was refused by the other, so that neither had the gang. */
  @Test
  void ofTwoGatewaysThatEachLinkOneNodeTheOneWithNode0GetsTheGang() throws Exception {
    var places = new Places(rig);
    places.fill("hpc");
    var node0 = new CountDownLatch(1);
    var node1 = new CountDownLatch(1);
    // Each opens the pipe to one node at once, and to the other when that is linked over there.
    GatewaySessions login1 =
        rig.gateway(named(HERE), List.of(new Slow(places.queueing("hpc"), 1, node1)));
    login1.upDetached(SessionRig.sized(places.ask(), 2, "4"), Talk.silent());
    GatewaySessions login2 =
        rig.gateway(ELSEWHERE, List.of(new Slow(places.queueing("hpc"), 0, node0)));
    login2.recover();
    awaitWaits(login2);

    places.free("hpc");
    until("node 0 is linked here", () -> isLinked(login1, 0));
    until("node 1 is linked there", () -> isLinked(login2, 1));
    node1.countDown();
    node0.countDown();

    awaitReady(login1);
    awaitLooksOn(login2, HERE);
    assertEquals(LedgerEntry.FIRST_TERM + 1, entry().keeper().term());
    assertEquals(SessionState.READY, entry().state());
    login1.sync(SessionRig.DEVBOX, false, Talk.silent());
    login1.down(SessionRig.DEVBOX, true, Talk.silent());
    places.assertNothingHeld();
  }

  /** It looked on, as at a gang that another home has adopted. */
  @Test
  void aReleaseThatFailedOnAnotherMachineIsFinishedHere() throws Exception {
    GatewaySessions login1 = gateway(named(HERE));
    login1.up(ask(project, 2), Talk.silent());
    rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);
    assertThrows(GpushException.class, () -> login1.down(SessionRig.DEVBOX, true, Talk.silent()));
    login1.close();
    assertEquals(SessionState.LEAKED, entry().state());

    GatewaySessions login2 = gateway(ELSEWHERE);

    until(() -> "it is gone, not " + login2.list(), () -> login2.list().isEmpty());
    rig.assertNothingLeft(login2);
  }

  private static boolean isLinked(GatewaySessions gateway, int node) {
    List<Link> links = gateway.find(SessionRig.DEVBOX).links();
    return !links.isEmpty() && links.get(node).state() instanceof LinkState.Up;
  }

  /** It was refused, although it waited for the gang, and no user wanted it there. */
  @Test
  void aRunThatWaitedTakesTheGangFromAGatewayThatOnlyLinkedItFirst() throws Exception {
    var places = new Places(rig);
    places.fill("hpc");
    var linked = new CountDownLatch(1);
    GatewaySessions login1 =
        rig.gateway(named(HERE), List.of(new Slow(places.queueing("hpc"), 0, linked)));
    Task<SessionView, RuntimeException> run =
        rig.tasks().fork("run", () -> login1.up(SessionRig.attaching(places.ask()), Talk.silent()));
    until("it waits", () -> SessionRig.states(login1).equals(List.of(SessionState.QUEUED)));
    GatewaySessions login2 = rig.gateway(ELSEWHERE, List.of(places.queueing("hpc")));
    login2.recover();
    awaitWaits(login2);

    places.free("hpc");
    awaitReady(login2);
    linked.countDown();

    assertEquals(SessionState.READY, run.get(SessionRig.DEADLINE).state());
    awaitLooksOn(login2, HERE);
    login1.down(SessionRig.DEVBOX, true, Talk.silent());
    places.assertNothingHeld();
  }

  @Test
  void whatWasHeldFromHereBeforeTheLedgerAndTheNameWereLostIsForgotten() throws Exception {
    SessionView made = made(named(HERE));
    ForgottenTest.loseLedger(rig);

    // The id is lost with the home; the machine and the folder are the same.
    GatewaySessions after = gateway(Holder.of(THERE, MACHINE, "aaaaaaaaaaaa"));

    SessionView adopted = after.adopt(Optional.empty(), false, project, Talk.silent());
    assertEquals(made.place().gang(), adopted.place().gang());
  }

  @Test
  void whatIsLocalToAnotherMachineIsNotGoneBecauseItIsNotHere() throws Exception {
    made(Holder.of(HERE, "ffffffffffff", HOME));
    Backend empty = new Elsewhere(rig.backend());

    GatewaySessions gateway = rig.gateway(named(THERE), List.of(empty));
    gateway.recover();

    assertEquals(List.of(), gateway.list());
    assertEquals(SessionState.READY, entry().state());
    assertTrue(
        gateway.doctor().stream()
            .anyMatch(
                finding ->
                    finding.status().equals("ok")
                        && finding
                            .detail()
                            .equals("held by another machine that uses this home: " + HERE)),
        () -> gateway.doctor().toString());
  }

  @Test
  void wordsOfAnyLengthLeaveTheIdWhole() {
    Holder holder = Holder.of("ann@laptop:/" + "x".repeat(4000), MACHINE, HOME);

    assertEquals(Optional.of(MACHINE + "." + HOME), holder.id());
    assertTrue(holder.text().length() <= 256, "agents keep no more");
    assertFalse(new Holder("ann@laptop:/home/#strange").id().isPresent());
    assertEquals("ann@laptop:/home/#strange", new Holder("ann@laptop:/home/#strange").words());
  }

  /** The local backend of a machine on which nothing runs. */
  private static final class Elsewhere extends PassingBackend {
    Elsewhere(Backend real) {
      super(real);
    }

    @Override
    public String kind() {
      return "local";
    }

    @Override
    public Observation observe(Gang gang) {
      return new Observation.Gone("no agent of it here");
    }

    @Override
    public List<String> release(Gang gang, Duration limit) {
      return List.of();
    }

    @Override
    public List<Discovered> discover(String owner) {
      return List.of();
    }

    @Override
    public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
      throw new IOException("no node here");
    }
  }

  /** A backend that opens no pipe to one node until it may. */
  private static final class Slow extends PassingBackend {
    private final int node;
    private final CountDownLatch may;

    Slow(Backend real, int node, CountDownLatch may) {
      super(real);
      this.node = node;
      this.may = may;
    }

    @Override
    public Pipe spawn(Gang gang, int of, List<String> arguments) throws IOException {
      try {
        if (of == node) {
          may.await();
        }
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new IOException(stop);
      }
      return super.spawn(gang, of, arguments);
    }
  }
}
