package dev.gpush.ssh.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoginsTest {
  private static final int MOST = 2;

  private final ManualClock clock = new ManualClock();
  private final Logins logins = new Logins(clock, MOST);
  private final List<Object> closed = new ArrayList<>();

  private void begin(Object connection) {
    logins.begin(connection, () -> closed.add(connection));
  }

  @Test
  void oneIsInProgressUntilItEnds() {
    assertFalse(logins.areInProgress());
    begin("a");
    begin("b");
    logins.end("a");
    assertTrue(logins.areInProgress());
    logins.end("b");
    assertFalse(logins.areInProgress());
  }

  @Test
  void oneThatTakesTooLongBlocksNothing() {
    begin("stalled");
    clock.advance(Duration.ofSeconds(9));
    assertTrue(logins.areInProgress());
    clock.advance(Duration.ofSeconds(1));
    assertFalse(logins.areInProgress());

    begin("fresh");

    assertTrue(logins.areInProgress());
  }

  @Test
  void theOldestIsClosedWhenItHasHadItsTimeAndItsPlaceIsNeeded() throws Exception {
    begin("oldest");
    clock.advance(Duration.ofSeconds(10));
    logins.awaitRoom();
    assertEquals(List.of(), closed);

    begin("other");
    logins.awaitRoom();

    assertEquals(List.of("oldest"), closed);
    logins.awaitRoom();
    assertEquals(List.of("oldest"), closed);
  }

  @Test
  void oneMoreBeginsWhenAnotherEnds() throws Exception {
    begin("a");
    begin("b");
    try (var tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace())) {
      var waiting =
          tasks.fork(
              "accept",
              () -> {
                logins.awaitRoom();
                return true;
              });
      logins.end("b");

      assertTrue(waiting.get());
    }
    assertEquals(List.of(), closed);
  }
}
