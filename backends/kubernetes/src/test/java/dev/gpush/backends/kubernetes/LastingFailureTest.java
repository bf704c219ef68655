package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class LastingFailureTest {
  private final ManualClock clock = new ManualClock();
  private final LastingFailure failure = new LastingFailure(clock);

  private boolean look(boolean fails) {
    boolean isLasting = failure.look(fails);
    clock.advance(Duration.ofSeconds(2));
    return isLasting;
  }

  @Test
  void aFailureAtEachLookLasts() {
    assertFalse(look(true));
    assertFalse(look(true));
    assertTrue(look(true));
  }

  @Test
  void aGoodLookBetweenBeginsAgain() {
    look(true);
    look(true);
    look(false);

    assertFalse(look(true));
    assertFalse(look(true));
    assertTrue(look(true));
  }

  @Test
  void looksOfOneMomentAreOne() {
    for (int look = 0; look < 10; look++) {
      assertFalse(failure.look(true));
    }
  }
}
