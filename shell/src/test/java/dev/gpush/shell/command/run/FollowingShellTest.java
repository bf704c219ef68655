package dev.gpush.shell.command.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.text.ShellEvent;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** What an interactive shell says while one of its commands follows a run. */
final class FollowingShellTest {
  private final Desk desk = new Desk();
  private final SessionView session =
      desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

  private Picture came(String... paths) {
    return new Picture(
        Optional.of(session), List.of(), Came.nothing().and(List.of(paths), true), List.of());
  }

  @Test
  void whatAnotherShellsCommandBringsHomeIsNotSaidByItsRun() throws Exception {
    desk.environment("GPUSH_SHELL", "4711");
    var end = new CountDownLatch(1);
    var run = new CompletableFuture<Integer>();
    desk.runs.untilKilled = Optional.of(end);
    desk.runs.pictures.add(this::came);
    desk.runs.pictures.add(
        () -> {
          run.completeAsync(() -> desk.call(desk.client("gpush run train.py")))
              .whenComplete((_, _) -> desk.runs.followed.countDown());
          await(desk.runs.followed);
          return came("by the run");
        });
    desk.runs.pictures.add(() -> came("by the run"));
    desk.runs.pictures.add(() -> came("by the run", "by another shell"));
    desk.runs.pictures.add(() -> came("by the run", "by another shell"));
    var watch = desk.client("gpush __watch");

    desk.call(watch);

    end.countDown();
    assertEquals(0, run.get());
    assertEquals(
        List.of("by the run true", "by another shell false"),
        watch
            .both()
            .lines()
            .filter(line -> line.startsWith("event\t"))
            .map(line -> ShellEvent.parse(line.substring("event\t".length())).orElseThrow())
            .map(event -> event.names().getFirst() + " " + event.isSaid())
            .toList());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stop) {
      throw new IllegalStateException(stop);
    }
  }
}
