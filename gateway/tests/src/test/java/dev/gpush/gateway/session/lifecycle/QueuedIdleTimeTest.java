package dev.gpush.gateway.session.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueuedIdleTimeTest {
  @ParameterizedTest
  @CsvSource({"PT1M, PT3H", "PT6H, PT3H", "PT9H, PT4H30M", "P4D, P2D", "P400D, P2D"})
  void isThreeHoursOrHalfTheTimeQueuedUpToTwoDays(Duration waited, Duration idle) {
    assertEquals(idle, QueuedIdleTime.after(waited));
  }
}
