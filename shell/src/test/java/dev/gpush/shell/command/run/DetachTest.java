package dev.gpush.shell.command.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Ctrl-Z at commands that follow a run. */
final class DetachTest {
  private final Desk desk = new Desk();

  @BeforeEach
  void begin() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
  }

  /** Presses Ctrl-Z when the run is followed, and expects the status of that. */
  private String leave(FakeInvocation client) throws Exception {
    var running = CompletableFuture.supplyAsync(() -> desk.call(client));
    desk.runs.followed.await();
    client.detach();

    assertEquals(148, running.get());
    assertTrue(desk.runs.stops.isEmpty(), desk.runs.stops::toString);
    assertEquals(List.of(), desk.bugs);
    return client.both();
  }

  @Test
  void theRunGoesOnAndItsOutputUntilThenIsWritten() throws Exception {
    assertEquals(
        """
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        [0] hello
        2> [1] warning
        2> run 7 goes on; logs -f 7 comes back to it, stop 7 ends it
        """,
        leave(desk.client("gpush run train.py")));
  }

  @Test
  void aSessionThatWasNamedIsNamedAgain() throws Exception {
    String shown = leave(desk.client("gpush run -s devbox train.py"));

    assertTrue(
        shown.contains("run 7 goes on; logs -f 7 -s devbox comes back to it, stop 7 -s devbox"),
        shown);
  }

  @Test
  void theSessionOfARunThatGoesOnStays() throws Exception {
    String shown = leave(desk.client("gpush run --down train.py"));

    assertTrue(shown.endsWith("2> devbox stays; gpush down gives it back\n"), shown);
    assertEquals(List.of(), desk.sessions.calls);
  }

  @Test
  void logsAreLeft() throws Exception {
    desk.runs.add(7, "running", Optional.empty(), "train.py");

    String shown = leave(desk.client("gpush logs -f 7"));

    assertTrue(
        shown.endsWith("2> run 7 goes on; logs -f 7 comes back to it, stop 7 ends it\n"), shown);
  }

  @Test
  void aRunThatIsWatchedIsLeftAsItIs() throws Exception {
    desk.runs.saves.add(
        (_, _, _) -> {
          new CountDownLatch(1).await();
          throw new IllegalStateException("the wait was not ended");
        });

    String shown = leave(desk.client("gpush run --watch train.py"));

    assertTrue(
        shown.endsWith("2> run 7 goes on; logs -f 7 comes back to it, stop 7 ends it\n"), shown);
  }

  @Test
  void aBugIsReportedAlthoughTheUserHasLeft() {
    FakeInvocation client = desk.client("gpush run train.py");
    desk.runs.output =
        _ -> {
          client.detach();
          throw new IllegalStateException("broken");
        };
    desk.call(client);

    assertEquals("broken", desk.bugs.getFirst().getMessage());
  }

  @Test
  void aRunThatIsBeingStoppedIsNotLeft() throws Exception {
    FakeInvocation client = desk.client("gpush run train.py");
    desk.runs.exit = Optional.of(137);
    var running = CompletableFuture.supplyAsync(() -> desk.call(client));
    desk.runs.followed.await();
    client.signal("INT");
    desk.runs.stops.take();
    client.detach();
    client.signal("INT");

    assertEquals(137, running.get());
  }
}
