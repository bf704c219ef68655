package dev.gpush.gateway.session.saves;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which paths are left out for a while because they change again and again. */
final class BusyPathsTest {
  private static final String LOG = "out.log";

  private final BusyPaths busy = new BusyPaths();
  private long now = 1;

  private void pass(Duration time) {
    now += time.toNanos();
  }

  /** Sends it whenever it may be; how often that was. */
  private int sends(int times, Duration pause) {
    int sent = 0;
    for (int i = 0; i < times; i++) {
      if (!busy.waiting(now).contains(LOG)) {
        busy.sent(List.of(LOG), now);
        sent++;
      }
      pass(pause);
    }
    return sent;
  }

  @Test
  void aPersonWhoSavesOftenNeverWaits() {
    assertEquals(1000, sends(1000, Duration.ofMillis(250)));
  }

  @Test
  void aLogIsSentLessAndLessOften() {
    assertTrue(sends(100, Duration.ofMillis(100)) < 60);
    assertTrue(sends(600, Duration.ofMillis(100)) < 8);
  }

  @Test
  void itIsKnownWhenTheNextOneGoes() {
    sends(60, Duration.ofMillis(1));

    assertEquals(Set.of(LOG), busy.waiting(now));
    Duration next = busy.next(Set.of(LOG, "other"), now).orElseThrow();
    assertTrue(next.compareTo(Duration.ofSeconds(1)) <= 0, next.toString());
    assertEquals(Optional.empty(), busy.next(Set.of("other"), now));
  }

  @Test
  void aPathThatRestsIsAsBefore() {
    sends(60, Duration.ofMillis(1));
    pass(Duration.ofSeconds(40));
    busy.sent(List.of("other"), now);

    assertEquals(15, sends(15, Duration.ofMillis(1)));
  }

  @Test
  void aCheckoutMakesNothingBusy() {
    List<String> many = java.util.stream.IntStream.range(0, 500).mapToObj(i -> "f" + i).toList();
    for (int i = 0; i < 50; i++) {
      busy.sent(many, now);
      pass(Duration.ofMillis(1));
    }

    assertEquals(Set.of(), busy.waiting(now));
  }
}
