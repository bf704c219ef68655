package dev.gpush.shell.command.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.SavedFiles;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code gpush run --watch} in front of runs and saves that the test makes. */
final class WatchedRunTest {
  private static final String WAITING = "waiting for the next save; Ctrl-C leaves\n";

  private final Desk desk = new Desk();
  private final FakeInvocation client = desk.client("gpush run --watch -v train.py");

  @BeforeEach
  void begin() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
  }

  private CompletableFuture<Integer> started() {
    return CompletableFuture.supplyAsync(() -> desk.call(client));
  }

  /** The save ends the run, and the next run goes on until it is killed. */
  private void saveWhileItRuns(String... paths) {
    desk.runs.saves.add(
        (_, generation, listener) -> {
          desk.runs.followed.await();
          var saved = new SavedFiles(generation + 1, List.of(paths));
          CountDownLatch old = desk.runs.untilKilled.orElseThrow();
          desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
          listener.saved(saved);
          old.countDown();
          return saved;
        });
  }

  /** The save comes when the command says that it waits. */
  private void saveWhenItWaits(String paths) {
    desk.runs.saves.add(
        (_, generation, listener) -> {
          client.awaitError(WAITING);
          desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
          desk.runs.exit = Optional.of(137);
          var saved = new SavedFiles(generation + 1, List.of(paths));
          listener.saved(saved);
          return saved;
        });
  }

  /** Ctrl-C twice, when this and the output of the run were written. */
  private int killed(CompletableFuture<Integer> running, String line) throws Exception {
    client.awaitError(line + "[1] warning\n");
    client.signal("INT");
    desk.runs.stops.take();
    client.signal("INT");
    desk.runs.stops.take();
    return running.get();
  }

  /** Waits until the wait itself is ended. */
  private static SavedFiles noSave() throws InterruptedException {
    new CountDownLatch(1).await();
    throw new IllegalStateException("the wait was not ended");
  }

  @Test
  void aSaveStartsTheRanksAgainAndItsStartIsTracedWhenAsked() throws Exception {
    var ranks = new Phase(Stage.RANKS, Duration.ofMillis(500), "starting the ranks");
    desk.runs.trace = new Trace(ranks.took(), List.of(ranks));
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    desk.runs.exit = Optional.of(137);
    saveWhileItRuns("a.py", "b.py", "lib/c.py", "lib/d.py");
    var running = started();

    String start =
        """
        run 8 · a.py, b.py, lib/c.py and 1 more changed · G42
        PHASE  TIME   WHAT
        ranks  0.5 s  starting the ranks
        total  0.5 s  -
        """;
    assertEquals(137, killed(running, start));

    assertEquals(2, desk.runs.launched.size());
    assertEquals(List.of("train.py"), desk.runs.launched.getLast().command().words());
    assertFalse(client.errText().contains("waiting"), client::errText);
    assertTrue(desk.bugs.isEmpty(), desk.bugs::toString);
  }

  @Test
  void aRunThatFailedWaitsForTheNextSave() throws Exception {
    desk.runs.exit = Optional.of(1);
    saveWhenItWaits("train.py");

    assertEquals(137, killed(started(), "run 8 · train.py changed · G42\n"));

    assertTrue(client.errText().contains("\n" + WAITING), client::errText);
  }

  @Test
  void aRunThatEndedWellWaitsToo() throws Exception {
    saveWhenItWaits("train.py");

    assertEquals(137, killed(started(), "run 8 · train.py changed · G42\n"));

    assertTrue(client.errText().contains("run 7 is done; " + WAITING), client::errText);
  }

  @Test
  void controlCLeavesWhileItWaits() throws Exception {
    desk.runs.saves.add(
        (_, _, _) -> {
          client.awaitError(WAITING);
          client.signal("INT");
          return noSave();
        });

    assertEquals(130, started().get());
    assertEquals(1, desk.runs.launched.size());
    assertTrue(desk.bugs.isEmpty(), desk.bugs::toString);
  }

  @Test
  void aSaveThatCannotBeSentIsNamedAndTheRunGoesOn() throws Exception {
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    desk.runs.exit = Optional.of(137);
    desk.runs.saves.add(
        (_, _, listener) -> {
          listener.failed(new SyncFailure.Unreadable("data.bin", "permission denied"));
          return noSave();
        });
    var running = started();
    desk.runs.followed.await();

    client.awaitError("permission denied");
    client.signal("INT");
    desk.runs.stops.take();
    client.signal("INT");
    assertEquals(137, running.get());

    assertEquals(1, desk.runs.launched.size());
  }

  @Test
  void aStartThatFailsWaitsForTheNextSave() throws Exception {
    desk.runs.saves.add(
        (_, generation, _) -> {
          client.awaitError(WAITING);
          desk.runs.failure =
              Optional.of(new LaunchFailure.NoSuchScript("train.py", "~/proj", List.of()));
          return new SavedFiles(generation + 1, List.of("train.py"));
        });
    var second = new CompletableFuture<Long>();
    desk.runs.saves.add(
        (_, generation, _) -> {
          second.complete(generation);
          client.awaitError("\n  try: ");
          client.signal("INT");
          return noSave();
        });

    assertEquals(130, started().get());

    assertEquals(43, second.get());
    assertEquals(2, desk.runs.launched.size());
  }

  @Test
  void theEndOfTheSessionIsTheEnd() throws Exception {
    desk.runs.saves.add(
        (_, _, _) -> {
          client.awaitError(WAITING);
          throw new GpushException(new SessionFailure.Gone("devbox", "it was idle for 1h"));
        });

    assertEquals(255, started().get());
    assertTrue(client.errText().contains("it was idle for 1h"), client::errText);
  }

  @Test
  void followsTheRunItStarts() {
    desk.expect(
        """
        $ gpush run --watch --detach train.py
        2> gpush: gpush run was not run
        2>   because --watch follows the run, and --detach does not
        2>   try: gpush help run
        ? 255
        """);
  }
}
