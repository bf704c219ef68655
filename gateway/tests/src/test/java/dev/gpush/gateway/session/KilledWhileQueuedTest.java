package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fake.FakeTrouble;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A gateway waits in two queues and is killed at whatever moment, while either queue, both or none
 * grants, also after its death: the next one ends with one gang or none, and forgets none.
 */
@Tag("chaos")
final class KilledWhileQueuedTest {
  /** More than it does until it is ready, so that some gateways live. */
  private static final int MOMENTS = 26;

  private final long seed = Long.getLong("gpush.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private int gateways;

  @Test
  void thereIsOneGangOrNoneAndNoneIsForgotten() throws Exception {
    int rounds = Integer.getInteger("gpush.rounds", Boolean.getBoolean("gpush.long") ? 50 : 4);
    System.err.println(
        "KilledWhileQueuedTest seed "
            + seed
            + ", "
            + rounds
            + " rounds (-Dgpush.seed, -Dgpush.rounds)");
    try (var rig = new SessionRig(FakeTrouble.none(seed))) {
      var places = new Places(rig);
      for (int round = 0; round < rounds; round++) {
        round(rig, places, "seed " + seed + ", round " + round);
      }
    }
  }

  private static List<Backend> both(Places places, BooleanSupplier isAlive) {
    return List.of(places.queueing("hpc", isAlive), places.queueing("uni", isAlive));
  }

  private void round(SessionRig rig, Places places, String where) throws Exception {
    places.fill("hpc");
    places.fill("uni");
    try (var mortal =
        new MortalGateway(
            rig, gateways++, random.nextInt(MOMENTS), isAlive -> both(places, isAlive))) {
      Task<SessionView, RuntimeException> life =
          rig.tasks().fork("life", () -> mortal.service().up(places.ask(), mortal.talk()));
      until("it waits, or is dead", () -> isWaiting(places) || life.isDone() || !mortal.isAlive());
      happen(places, mortal);
      if (random.nextBoolean()) {
        until(
            "it is ready, dead, or still waits",
            () -> life.isDone() || !mortal.isAlive() || isWaiting(places));
      }
    }
    try (var last =
        new MortalGateway(rig, gateways++, Integer.MAX_VALUE, isAlive -> both(places, isAlive))) {
      GatewaySessions sessions = last.service();
      last.service().recover();
      places.free("hpc");
      places.free("uni");
      until(
          "all are settled",
          () -> states(sessions).stream().allMatch(KilledWhileQueuedTest::isSettled));
      if (states(sessions).contains(SessionState.QUEUED)) {
        upAgain(sessions, places);
      }
      until("one gang is held, or none: " + where, () -> isOne(rig, places, sessions));
      for (SessionView view : sessions.list()) {
        sessions.down(view.name(), true, Talk.silent());
      }
      places.assertNothingHeld();
      assertEquals(List.of(), sessions.list(), where);
    }
  }

  /** What the clusters do, and when the gateway dies between it. */
  private void happen(Places places, MortalGateway mortal) throws InterruptedException {
    switch (random.nextInt(5)) {
      case 0 -> {
        mortal.die();
        places.free("hpc");
        places.free("uni");
      }
      case 1 -> {
        places.free("uni");
        mortal.die();
        places.free("hpc");
      }
      case 2 -> {
        places.free("uni");
        places.free("hpc");
      }
      case 3 -> places.free("hpc");
      default -> mortal.die();
    }
  }

  private static boolean isWaiting(Places places) {
    return !places.site("hpc").waiting().isEmpty() && !places.site("uni").waiting().isEmpty();
  }

  private static List<SessionState> states(GatewaySessions sessions) {
    return sessions.list().stream().map(SessionView::state).toList();
  }

  private static boolean isSettled(SessionState state) {
    return state == SessionState.READY
        || state == SessionState.LEAKED
        || state == SessionState.QUEUED;
  }

  private static void upAgain(GatewaySessions sessions, Places places) throws InterruptedException {
    try {
      SessionView view = sessions.up(places.ask(), Talk.silent());
      assertEquals(SessionState.READY, view.state());
    } catch (GpushException gone) {
      // Recovery had it first; what is left is checked next.
    }
  }

  private static boolean isOne(SessionRig rig, Places places, GatewaySessions sessions) {
    List<GangId> held = places.held().values().stream().flatMap(List::stream).toList();
    List<SessionView> ready =
        sessions.list().stream().filter(view -> view.state() == SessionState.READY).toList();
    assertTrue(ready.size() <= 1, () -> "two sessions: " + ready);
    List<GangId> known = sessions.list().stream().map(rig::gang).toList();
    return held.size() <= 1
        && known.containsAll(held)
        && held.size() == ready.size()
        && places.site("hpc").waiting().isEmpty()
        && places.site("uni").waiting().isEmpty();
  }
}
