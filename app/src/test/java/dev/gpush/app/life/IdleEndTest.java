package dev.gpush.app.life;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class IdleEndTest {
  private final ManualClock clock = new ManualClock();
  private final IdleEnd end = new IdleEnd(IdleEnd.USUAL, clock);

  @Test
  void isDueTenMinutesAfterTheLastUse() {
    clock.advance(Duration.ofMinutes(9));
    assertFalse(end.isDue(true));

    clock.advance(Duration.ofMinutes(10).minusSeconds(1));
    assertFalse(end.isDue(false));

    clock.advance(Duration.ofSeconds(1));
    assertTrue(end.isDue(false));
  }

  @Test
  void isNeverDueWhileInUse() {
    clock.advance(Duration.ofDays(3));

    assertFalse(end.isDue(true));
    assertFalse(end.isDue(false));
  }
}
