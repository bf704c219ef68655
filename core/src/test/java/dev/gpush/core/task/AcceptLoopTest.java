package dev.gpush.core.task;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class AcceptLoopTest {
  private final List<String> reports = new ArrayList<>();
  private final PausedClock clock = new PausedClock();
  private final AcceptLoop loop =
      new AcceptLoop(clock, failed -> reports.add(String.valueOf(failed.getMessage())));
  private int accepted;
  private boolean isOpen = true;

  /** Time passes only in sleep(). */
  private static final class PausedClock implements Clock {
    private final List<Duration> pauses = new ArrayList<>();

    @Override
    public Instant now() {
      return Instant.EPOCH;
    }

    @Override
    public long nanos() {
      return pauses.stream().mapToLong(Duration::toNanos).sum();
    }

    @Override
    public void sleep(Duration time) {
      pauses.add(time);
    }
  }

  @Test
  void goesOnAfterFailures() throws Exception {
    loop.run(
        () -> accepted < 3,
        () -> {
          if (clock.pauses.size() < 2) {
            throw new IOException("Too many open files");
          }
          accepted++;
        });

    assertEquals(3, accepted);
    assertEquals(List.of(AcceptLoop.PAUSE, AcceptLoop.PAUSE), clock.pauses);
    assertEquals(List.of("Too many open files"), reports);
  }

  @Test
  void goesOnWithoutAThreadForAConnection() throws Exception {
    loop.run(
        () -> accepted < 2,
        () -> {
          if (accepted++ == 0) {
            throw new Error("unable to create native thread");
          }
        });

    assertEquals(2, accepted);
    assertEquals(List.of("unable to create native thread"), reports);
  }

  @Test
  void reportsFailuresThatGoOnNowAndThen() throws Exception {
    long perMinute = AcceptLoop.QUIET.dividedBy(AcceptLoop.PAUSE);
    loop.run(
        () -> clock.pauses.size() < 2 * perMinute,
        () -> {
          throw new IOException("Too many open files");
        });

    assertEquals(2, reports.size());
  }

  @Test
  void aClosedListenerIsNoFailure() throws Exception {
    loop.run(
        () -> isOpen,
        () -> {
          isOpen = false;
          throw new IOException("closed");
        });

    assertEquals(List.of(), reports);
    assertEquals(List.of(), clock.pauses);
  }
}
