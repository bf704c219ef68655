package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.awaitSettled;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Discovered;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fake.FakeTrouble;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever kills a gateway at whatever moment of up or down, and whatever fails besides: the next
 * one ends with every gang in a session, no session with two, and all of it can be given back.
 */
@Tag("chaos")
final class KilledGatewayTest {
  /** More than an up and a down do, so that some gateways live. */
  private static final int MOMENTS = 26;

  /** A pretended failure in so many operations. */
  private static final int ONE_IN = 15;

  private final long seed = Long.getLong("gpush.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private int gateways;

  private static final Duration LOOK = Duration.ofMillis(200);

  @Test
  void theNextGatewayEndsReadyReleasedOrLeakedAndForgetsNothing() throws Exception {
    int rounds = Integer.getInteger("gpush.rounds", Boolean.getBoolean("gpush.long") ? 50 : 3);
    System.err.println(
        "KilledGatewayTest seed "
            + seed
            + ", "
            + rounds
            + " rounds (-Dgpush.seed, -Dgpush.rounds)");
    try (var rig = new SessionRig(FakeTrouble.often(seed, ONE_IN))) {
      Path project = rig.project("project");
      for (int round = 0; round < rounds; round++) {
        String where = "seed " + seed + ", round " + round;
        int nodes = 1 + random.nextInt(2);
        upAndPerhapsDown(rig, project, nodes);
        if (random.nextInt(4) == 0) {
          loseAGang(rig);
        }
        if (random.nextInt(3) == 0) {
          // This one dies while it recovers.
          try (var second = new MortalGateway(rig, gateways++, random.nextInt(6))) {
            recover(second);
          }
        }
        try (var last = new MortalGateway(rig, gateways++, Integer.MAX_VALUE)) {
          GatewaySessions gateway = last.service();
          gateway.recover();
          if (random.nextBoolean()) {
            upAgain(gateway, project, nodes);
          }
          awaitSettled(gateway);
          check(rig, gateway, where);
          giveAllBack(gateway);
          rig.assertNothingLeft(gateway);
        }
      }
    }
  }

  private void upAndPerhapsDown(SessionRig rig, Path project, int nodes) throws Exception {
    try (var mortal = new MortalGateway(rig, gateways++, random.nextInt(MOMENTS))) {
      GatewaySessions sessions = mortal.service();
      Task<SessionView, RuntimeException> life =
          rig.tasks()
              .fork(
                  "life",
                  () -> {
                    SessionView view = sessions.up(ask(project, nodes), mortal.talk());
                    mortal.moment();
                    sessions.down(view.name(), true, mortal.talk());
                    return view;
                  });
      await(life, mortal);
    }
  }

  /**
   * Until it was killed, or had a pretended failure, or is done. A thread of one that is dead may
   * wait for ever for a pipe that nobody opens again: with its process it would be gone.
   */
  private static void await(Task<SessionView, RuntimeException> life, MortalGateway mortal)
      throws Exception {
    long end = System.nanoTime() + SessionRig.DEADLINE.toNanos();
    try {
      while (!life.isDone()) {
        try {
          life.get(LOOK);
        } catch (TimeoutException stillAtIt) {
          if (!mortal.isAlive()) {
            life.cancel();
            return;
          }
          assertTrue(System.nanoTime() < end, "it is alive and does not come to an end");
        }
      }
      life.get();
    } catch (MortalGateway.Killed | GpushException | UncheckedIOException expected) {
      // What it has left is for the next one.
    }
  }

  /** All nodes: a gang that has lost some is LostNodeTest's. */
  private void loseAGang(SessionRig rig) {
    List<Discovered> held = rig.held();
    if (!held.isEmpty()) {
      Gang gang = held.getFirst().gang();
      gang.nodes().forEach(node -> rig.site().kill(gang.id(), node.index()));
    }
  }

  private static void recover(MortalGateway gateway) {
    try {
      gateway.service().recover();
    } catch (MortalGateway.Killed atOnce) {
      return;
    }
    until(
        "it has recovered or is dead",
        () -> {
          try {
            gateway.moment();
            return SessionRig.states(gateway.service()).stream()
                .allMatch(state -> state == SessionState.READY || state == SessionState.LEAKED);
          } catch (MortalGateway.Killed dead) {
            return true;
          }
        });
  }

  private static void upAgain(GatewaySessions gateway, Path project, int nodes)
      throws InterruptedException {
    try {
      SessionView view = gateway.up(ask(project, nodes), Talk.silent());
      assertEquals(nodes, view.nodes().size());
    } catch (GpushException pretended) {
      // What is left of it is checked next.
    }
  }

  private static void check(SessionRig rig, GatewaySessions gateway, String where) {
    List<SessionView> sessions = gateway.list();
    Set<GangId> known = new HashSet<>();
    for (SessionView view : sessions) {
      assertTrue(known.add(rig.gang(view)), where);
    }
    Set<GangId> held = new HashSet<>();
    rig.held().forEach(found -> held.add(found.gang().id()));
    assertTrue(known.containsAll(held), where + ": forgotten " + held + ", known " + known);
    assertTrue(sessions.size() <= 1, where + ": " + sessions);
    for (SessionView view : sessions) {
      if (view.state() == SessionState.READY) {
        assertTrue(held.contains(rig.gang(view)), where + ": ready without a gang");
      }
    }
  }

  private static void giveAllBack(GatewaySessions gateway) throws InterruptedException {
    while (!gateway.list().isEmpty()) {
      for (SessionView view : gateway.list()) {
        try {
          gateway.down(view.name(), true, Talk.silent());
        } catch (GpushException pretended) {
          // Leaked: asked again.
        }
      }
    }
  }
}
