package dev.gpush.gateway.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.UpRequest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The idle time of gangs that waited in a queue; their agents are real. */
class IdleAfterQueueTest {
  private static final Duration WAITED = Duration.ofHours(9);

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

  private GatewaySessions gateway() {
    return rig.gateway(List.of(places.queueing("hpc")), SessionRig.DEADLINE);
  }

  private SessionView readyAfter(GatewaySessions gateway, UpRequest request, Duration waited)
      throws Exception {
    gateway.upDetached(request, talk);
    assertEquals(SessionState.QUEUED, rig.ledger().load().getLast().state());
    rig.letPass(waited);
    places.free("hpc");
    SessionRig.until(
        "it is ready", () -> SessionRig.states(gateway).equals(List.of(SessionState.READY)));
    return gateway.list().getFirst();
  }

  private void assertIdle(Duration expected, SessionView ready) {
    Duration left = ready.idleLeft().orElseThrow();
    Duration set = rig.ledger().load().getLast().lease().idle();
    assertTrue(left.compareTo(set) <= 0, left::toString);
    assertTrue(left.compareTo(expected.minusMinutes(10)) > 0, left::toString);
    assertEquals(expected.toMinutes(), set.toMinutes(), 1.0);
  }

  @Test
  void isHalfTheTimeThatItWaited() throws Exception {
    GatewaySessions gateway = gateway();

    assertIdle(WAITED.dividedBy(2), readyAfter(gateway, places.ask(), WAITED));

    gateway.down(SessionRig.DEVBOX, true, talk);
  }

  @Test
  void isTheUsersWhereTheUserHasChosenOne() throws Exception {
    GatewaySessions gateway = gateway();
    UpRequest request = SessionRig.idling(places.ask(), Duration.ofMinutes(20));

    assertIdle(Duration.ofMinutes(20), readyAfter(gateway, request, WAITED));

    gateway.down(SessionRig.DEVBOX, true, talk);
  }

  @Test
  void isTheUsualOneAfterAShortWait() throws Exception {
    GatewaySessions gateway = gateway();

    assertIdle(Duration.ofHours(1), readyAfter(gateway, places.ask(), Duration.ZERO));

    gateway.down(SessionRig.DEVBOX, true, talk);
  }

  @Test
  void doesNotGrowWithTheAgeOfTheSession() throws Exception {
    GatewaySessions first = gateway();
    readyAfter(first, places.ask(), Duration.ZERO);
    first.close();
    rig.letPass(WAITED);

    GatewaySessions next = gateway();
    next.recover();
    SessionRig.until(
        "it is ready again", () -> SessionRig.states(next).equals(List.of(SessionState.READY)));

    assertIdle(Duration.ofHours(1), next.list().getFirst());
    next.down(SessionRig.DEVBOX, true, talk);
  }
}
