package dev.gpush.ssh.socket;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoginsTest {
  private final ManualClock clock = new ManualClock();
  private final Logins logins = new Logins(clock, Duration.ofSeconds(10));

  @Test
  void oneIsInProgressUntilItEnds() {
    assertFalse(logins.areInProgress());
    logins.begins("a");
    logins.begins("b");
    logins.ends("a");
    assertTrue(logins.areInProgress());
    logins.ends("b");
    assertFalse(logins.areInProgress());
  }

  @Test
  void oneThatTakesTooLongKeepsNobody() {
    logins.begins("stalled");
    clock.advance(Duration.ofSeconds(9));
    assertTrue(logins.areInProgress());
    clock.advance(Duration.ofSeconds(1));
    assertFalse(logins.areInProgress());

    logins.begins("fresh");

    assertTrue(logins.areInProgress());
  }

  @Test
  void onlyThoseThatBeganBeforeTheEndAreLetIn() {
    logins.begins("early");
    clock.advance(Duration.ofMillis(1));
    long end = clock.nanos();
    logins.begins("late");

    assertTrue(logins.beganBefore("early", end));
    assertFalse(logins.beganBefore("late", end));
    assertFalse(logins.beganBefore("never seen", end));
  }
}
