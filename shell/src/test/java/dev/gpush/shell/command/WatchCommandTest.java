package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.shell.text.ShellEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an interactive shell hears between two lines; the last look ends it. */
final class WatchCommandTest {
  private final Desk desk = new Desk();
  private final SessionView session =
      desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

  private static Picture of(SessionView view, String... came) {
    return new Picture(
        Optional.of(view), List.of(), Came.nothing().and(Arrays.asList(came), false), List.of());
  }

  /** The last prompt and state, and all events as they are shown. */
  private List<String> heard() {
    return heard("gpush __watch");
  }

  private List<String> heard(String words) {
    FakeInvocation watch = desk.client(words);
    assertEquals(130, desk.call(watch), watch.errText());
    List<String> lines = watch.outText().lines().toList();
    var heard =
        new ArrayList<>(
            lines.stream()
                .filter(line -> line.startsWith("event\t"))
                .map(line -> line.substring("event\t".length()))
                .map(line -> ShellEvent.parse(line).orElseThrow().shown())
                .toList());
    for (String word : List.of("prompt\t", "status\t")) {
      heard.add(lines.stream().filter(line -> line.startsWith(word)).toList().getLast());
    }
    return heard;
  }

  @Test
  void itTellsTheStateAndWhatHasChanged() {
    desk.environment("LANG", "C.UTF-8");
    desk.runs.pictures.add(() -> of(new ViewChange(session).queued("4 of 19").view()));
    desk.runs.pictures.add(() -> of(new ViewChange(session).queued("2 of 17").view()));

    assertEquals(
        List.of(
            "devbox is queued: 2 of 17",
            "prompt\tdevbox queued 2 of 17 > ",
            "status\tdevbox on local · 2 cpu nodes · queued: 2 of 17"),
        heard());
  }

  /** The words are those that the watch of another gateway has printed last. */
  @Test
  void itTellsWhatHasHappenedSinceAnotherGateway() {
    desk.runs.pictures.add(() -> of(session, "a.py"));
    FakeInvocation before = desk.client("gpush __watch");
    desk.call(before);
    String seen =
        before.outText().lines().filter(line -> line.startsWith("seen\t")).toList().getLast();
    desk.runs.pictures.add(() -> of(session, "b.py"));

    assertEquals("seen\t1f2e devbox 0", seen);
    assertEquals(
        "b.py came home from node 0",
        heard("gpush __watch " + seen.substring("seen\t".length())).getFirst());
  }

  @Test
  void itSaysWhatTheNodesHaveCost() {
    SessionView costly = new ViewChange(session).costs(10, Duration.ofMinutes(90)).view();
    desk.runs.pictures.add(() -> of(costly));

    String status = heard().getLast();
    assertTrue(status.endsWith(" - 48m idle - cost 15.00 so far"), status);
  }

  @Test
  void itTellsWhichCommandThePromptAsksFor() {
    SessionView.Status now = session.status();
    var status =
        new SessionView.Status(
            now.state(), "Duo for hpc", Optional.of("hpc"), now.isStarting(), now.trace());
    desk.runs.pictures.add(() -> of(new ViewChange(session).with(status).view()));
    desk.runs.pictures.add(() -> of(session));

    FakeInvocation watch = desk.client("gpush __watch");
    assertEquals(130, desk.call(watch), watch.errText());
    assertEquals(
        List.of("needs\tlogin hpc", "needs\t"),
        watch.outText().lines().filter(line -> line.startsWith("needs")).toList());
  }

  @Test
  void whatRepeatsIsSaidOnceInTenSeconds() {
    for (int looks = 0; looks < 5; looks++) {
      String[] came = Collections.nCopies(looks, "a.py").toArray(new String[0]);
      boolean isLater = looks == 4;
      desk.runs.pictures.add(
          () -> {
            desk.clock.advance(Duration.ofSeconds(isLater ? 9 : 1));
            return of(session, came);
          });
    }

    assertEquals(
        List.of("a.py came home from node 0", "a.py came home from node 0"), heard().subList(0, 2));
  }

  /** A place in the queue that was to be said ten seconds after the one before. */
  @Test
  void whatIsReadyIsSaidToBeQueuedNoMore() {
    desk.environment("LANG", "C.UTF-8");
    for (String place : List.of("4 of 19", "2 of 17", "1 of 16")) {
      desk.runs.pictures.add(() -> of(new ViewChange(session).queued(place).view()));
    }
    for (int looks = 0; looks < 2; looks++) {
      desk.runs.pictures.add(
          () -> {
            desk.clock.advance(Duration.ofSeconds(11));
            return of(session);
          });
    }

    assertEquals(
        List.of("devbox is queued: 2 of 17", "devbox is ready: 2 cpu nodes on local"),
        heard().subList(0, 2));
  }

  @Test
  void withoutSymbolsItHasWords() {
    desk.environment("LANG", "C.UTF-8");
    desk.environment("GPUSH_PLAIN", "1");
    desk.runs.pictures.add(() -> of(session));

    assertEquals(
        List.of(
            "prompt\tdevbox 2 cpu nodes - G1 > ",
            "status\tdevbox on local - 2 cpu nodes - ready - 48m idle"),
        heard());
  }
}
