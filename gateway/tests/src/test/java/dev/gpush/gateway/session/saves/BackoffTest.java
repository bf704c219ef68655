package dev.gpush.gateway.session.saves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class BackoffTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration DAY = Duration.ofDays(1);

  private final ManualClock clock = new ManualClock();

  @Test
  void doublesUpToADay() {
    Backoff backoff = Backoff.none();
    assertTrue(backoff.isOver(clock.nanos()));

    Duration all = Duration.ZERO;
    for (int i = 0; i < 60; i++) {
      backoff = backoff.failed(SECOND, clock.nanos());
      long expected = i < 17 ? 1L << i : DAY.toSeconds();
      assertEquals(Duration.ofSeconds(expected), backoff.pause());
      clock.advance(backoff.pause().minusNanos(1));
      assertFalse(backoff.isOver(clock.nanos()));
      clock.advance(Duration.ofNanos(1));
      assertTrue(backoff.isOver(clock.nanos()));
      all = all.plus(backoff.pause());
    }
    assertTrue(all.compareTo(Duration.ofDays(40)) > 0);
  }

  @Test
  void aNodeThatCannotWriteIsTriedLessAndLessOftenUntilASave() {
    var nodes = new NodeGenerations(2);
    nodes.hold(List.of(0, 1), 7, 0);
    int tries = 0;
    for (Duration at = Duration.ZERO; at.compareTo(DAY) < 0; at = at.plus(SECOND)) {
      if (nodes.present(clock.nanos()).contains(1)) {
        tries++;
        nodes.leaveOut(1, "its disk is full", clock.nanos());
        assertFalse(nodes.areWanting(clock.nanos()));
      }
      clock.advance(SECOND);
    }
    assertEquals(17, tries);
    assertTrue(nodes.next(clock.nanos()).orElseThrow().compareTo(Duration.ofHours(6)) > 0);

    nodes.saved();

    assertEquals(Optional.of(Duration.ZERO), nodes.next(clock.nanos()));
    assertEquals(List.of(0, 1), nodes.present(clock.nanos()));
    assertTrue(nodes.areWanting(clock.nanos()));
  }

  @Test
  void aNodeWhoseLinkIsUpAgainIsTriedAtOnce() {
    var nodes = new NodeGenerations(1);
    nodes.hold(List.of(0), 7, 0);
    for (int i = 0; i < 10; i++) {
      nodes.leaveOut(0, "its link is cut", clock.nanos());
    }
    assertEquals(List.of(), nodes.present(clock.nanos()));

    nodes.expect(0);

    assertEquals(List.of(0), nodes.present(clock.nanos()));
  }

  /** Its disk may be empty: what was sent to the agent before it may be lost. */
  @Test
  void aNodeThatRestartedDuringAPushDoesNotCountAsHavingIt() {
    var nodes = new NodeGenerations(2);
    long begun = nodes.moment();
    nodes.replaced(1, false);

    nodes.hold(List.of(0, 1), 7, begun);

    assertEquals(Optional.of(7L), nodes.generation(0));
    assertEquals(Optional.empty(), nodes.generation(1));
    assertFalse(nodes.areEqual());
    nodes.hold(List.of(0, 1), 8, nodes.moment());
    assertTrue(nodes.areEqual());
  }
}
