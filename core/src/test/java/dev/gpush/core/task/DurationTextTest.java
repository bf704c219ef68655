package dev.gpush.core.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "90s, 90, 1m30s",
    "30m, 1800, 30m",
    "2h, 7200, 2h",
    "1d12h, 129600, 1d12h",
    "1h0m5s, 3605, 1h",
    "120m, 7200, 2h",
    "3650d, 315360000, 3650d"
  })
  void readsAndWrites(String text, long seconds, String written) {
    Duration duration = DurationText.parse("--for", text);

    assertEquals(Duration.ofSeconds(seconds), duration);
    assertEquals(written, DurationText.of(duration));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "30",
        "h",
        "m30",
        "30m2h",
        "1.5h",
        "-1h",
        "2 h",
        "2H",
        "0s",
        "0d0h",
        "3651d",
        "999999999d",
        "9999999999s",
        "1h1h",
        "2h!",
        "٣h"
      })
  void refuses(String text) {
    var refused =
        assertThrows(GpushException.class, () -> DurationText.parse("--for", text)).failure();

    assertEquals(new UsageFailure.BadValue("--for", text, DurationText.RULE), refused);
  }

  @Test
  void coarseRoundsToMinutesFromOneOn() {
    assertEquals("59s", DurationText.coarse(Duration.ofMillis(59_900)));
    assertEquals("28m", DurationText.coarse(Duration.ofSeconds(28 * 60 + 12)));
    assertEquals("5h13m", DurationText.coarse(Duration.ofSeconds(5 * 3600 + 12 * 60 + 59)));
    assertEquals("1h", DurationText.coarse(Duration.ofSeconds(3598)));
    assertEquals("0s", DurationText.coarse(Duration.ofSeconds(-3)));
  }

  @Test
  void whatIsWrittenIsReadAsTheSameDownToItsTwoUnits() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      Duration duration = Duration.ofSeconds(1 + random.nextLong(40_000_000));

      String text = DurationText.of(duration);

      String again = DurationText.of(DurationText.parse("x", text));
      assertEquals(text, again, "seed " + seed);
    }
  }
}
