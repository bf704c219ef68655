package dev.gpush.backends.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What stays in a queue, and what is taken out of it. */
final class QueuedRequestTest {
  private static final Gang GANG =
      new Gang(new GangId("0123456789abcdef"), "hpc", List.of(), "job 7");

  private final AtomicInteger rolledBack = new AtomicInteger();

  private QueuedRequest request(boolean leavesPlace) {
    var waiter =
        new Waiter() {
          @Override
          public void waits(String words) {}

          @Override
          public boolean leavesPlace() {
            return leavesPlace;
          }
        };
    return new QueuedRequest("hpc", waiter, rolledBack::incrementAndGet);
  }

  private static Gang unanswered() throws Unanswered {
    throw new Unanswered("squeue has not answered", null);
  }

  @Test
  void aGrantedGangStays() throws Exception {
    assertSame(GANG, request(false).take(() -> GANG));
    assertSame(GANG, request(false).resume(() -> GANG));

    assertEquals(0, rolledBack.get());
  }

  @Test
  void aRequestOfThisProcessIsRolledBackWhenNobodyCanTell() {
    GpushException failed =
        assertThrows(GpushException.class, () -> request(true).take(QueuedRequestTest::unanswered));

    assertEquals(
        new BackendFailure.ReserveFailed("hpc", "squeue has not answered"), failed.failure());
    assertEquals(1, rolledBack.get());
  }

  @Test
  void anOlderRequestStaysWhenNobodyCanTell() {
    GpushException failed =
        assertThrows(
            GpushException.class, () -> request(false).resume(QueuedRequestTest::unanswered));

    assertEquals(
        new BackendFailure.Unavailable(
            "hpc", "squeue has not answered", "gpush backends --explain"),
        failed.failure());
    assertEquals(0, rolledBack.get());
  }

  @Test
  void anOlderRequestThatFailedIsRolledBack() {
    var why = new GpushException(new BackendFailure.ReserveFailed("hpc", "its job failed"));

    assertSame(
        why,
        assertThrows(
            GpushException.class,
            () ->
                request(false)
                    .resume(
                        () -> {
                          throw why;
                        })));
    assertEquals(1, rolledBack.get());
  }

  @Test
  void aFailureThatTheUserCanActOnStaysAsItIs() {
    var closed = new GpushException(new BackendFailure.Unavailable("hpc", "log in", "gpush login"));

    assertSame(
        closed,
        assertThrows(
            GpushException.class,
            () ->
                request(false)
                    .take(
                        () -> {
                          throw new Unanswered("closed", closed);
                        })));
  }

  @Test
  void theWaiterDecidesWhetherAnInterruptedRequestStays() {
    assertThrows(InterruptedException.class, () -> request(true).take(this::interrupted));
    assertEquals(0, rolledBack.get());

    assertThrows(InterruptedException.class, () -> request(false).take(this::interrupted));
    assertEquals(1, rolledBack.get());
  }

  private Gang interrupted() throws InterruptedException {
    throw new InterruptedException("stop");
  }

  @Test
  void anInterruptThatAppearsAsAFailureCountsToo() {
    assertThrows(GpushException.class, () -> request(true).take(this::failedByInterrupt));

    assertEquals(0, rolledBack.get());
    assertTrue(Thread.interrupted());
  }

  @Test
  void aRollbackIsNotInterruptedAndKeepsTheFlag() {
    assertThrows(GpushException.class, () -> request(false).take(this::failedByInterrupt));

    assertEquals(1, rolledBack.get());
    assertTrue(Thread.interrupted());
  }

  private Gang failedByInterrupt() {
    Thread.currentThread().interrupt();
    throw new GpushException(new BackendFailure.ReserveFailed("hpc", "interrupted"));
  }

  @Test
  void theFirstFailureIsReportedAndNotThatOfTheRollback() {
    var broken =
        new QueuedRequest(
            "hpc",
            _ -> {},
            () -> {
              throw new GpushException(new BackendFailure.NotReleased("hpc", "0", "still there"));
            });

    GpushException failed =
        assertThrows(GpushException.class, () -> broken.take(QueuedRequestTest::unanswered));

    assertEquals(
        new BackendFailure.ReserveFailed("hpc", "squeue has not answered"), failed.failure());
  }
}
