package dev.gpush.gateway.session.saves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class LookRestTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualClock clock = new ManualClock();
  private LookRest rest = LookRest.none(clock.nanos());

  private void look(Duration took, boolean isOfAll) {
    long begun = clock.nanos();
    clock.advance(took);
    rest = rest.looked(begun, clock.nanos(), isOfAll);
  }

  /** How much of this time is spent with looks, when there is always something to look at. */
  private Duration looks(Duration time, boolean isOfAll) {
    long end = clock.nanos() + time.toNanos();
    Duration all = Duration.ZERO;
    while (clock.nanos() - end < 0) {
      if (rest.isOver(clock.nanos())) {
        look(SECOND, isOfAll);
        all = all.plus(SECOND);
      } else {
        clock.advance(rest.left(clock.nanos()));
      }
    }
    return all;
  }

  @Test
  void aNodeThatWasQuietIsLookedAtSeveralTimesAtOnce() {
    for (int i = 0; i < 2; i++) {
      assertTrue(looks(Duration.ofSeconds(5), true).compareTo(Duration.ofSeconds(5)) >= 0);
      looks(Duration.ofHours(1), true);
      clock.advance(Duration.ofMinutes(2));
    }
  }

  @Test
  void aNodeThatAlwaysSaysSomethingGetsItsShare() {
    long seconds = looks(Duration.ofHours(1), true).toSeconds();
    assertTrue(seconds <= 3600 / 11 + 6, () -> "looked for " + seconds);
    long half = looks(Duration.ofHours(1), false).toSeconds();
    assertTrue(half <= 1800 + 1, () -> "looked for " + half);
  }

  @Test
  void afterAFailureItRestsAndALookThatIsWantedAnywayIsNoLoan() {
    rest = LookRest.failed(clock.nanos());
    assertEquals(Duration.ofSeconds(30), rest.left(clock.nanos()));

    look(SECOND, true);

    assertEquals(Duration.ofSeconds(10), rest.left(clock.nanos()));
    assertFalse(rest.isOver(clock.nanos()));
  }
}
