package dev.gpush.shell.render;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.session.Sessions.Ended;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Trace;
import dev.gpush.shell.command.SuggestedCommands;
import dev.gpush.shell.command.ViewChange;
import dev.gpush.shell.text.LastSeen;
import dev.gpush.shell.text.ShellEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class PictureChangesTest {
  private static final Instant BEGUN = Instant.parse("2026-11-27T09:00:00Z");

  private static final List<Duration> WARNINGS =
      List.of(Duration.ofMinutes(30), Duration.ofMinutes(15), Duration.ofMinutes(5));

  private final SessionView session = session("1f2e");

  private static SessionView session(String id) {
    return new SessionView(
        new SessionView.Identity(id, new SessionName("devbox"), Path.of("/p"), "ann", BEGUN),
        new SessionView.Status(SessionState.READY, "", Optional.empty(), false, Trace.none()),
        new SessionView.Place(
            "hpc", "00", 2, new GpuRequest(Optional.of("H100"), 8), Optional.empty()),
        new SessionView.Lease(Optional.empty(), Optional.of(Duration.ofHours(1)), "idle", WARNINGS),
        work("up", "up", "", ""),
        false);
  }

  private static SessionView.Work work(String link0, String link1, String behind, String held) {
    List<HeldPath> paths =
        held.isEmpty()
            ? List.of()
            : List.of(
                new HeldPath(
                    held,
                    HeldPath.Reason.DELETED_THERE,
                    0,
                    Optional.empty(),
                    Optional.empty(),
                    ""));
    var sync =
        new SyncView(
            SyncView.Mode.LIVE,
            behind.isEmpty() && held.isEmpty(),
            Optional.of(42L),
            List.of(
                new SyncView.Node(0, Optional.of(42L), ""),
                new SyncView.Node(1, Optional.of(41L), behind)),
            0,
            List.of(),
            SyncView.Incoming.NONE,
            List.of(),
            List.of(),
            "",
            new SyncView.Versions(paths, List.of()),
            "");
    return new SessionView.Work(
        List.of(node(0, link0), node(1, link1)), Optional.of(42L), 0, "", List.of(), sync);
  }

  private static NodeView node(int index, String link) {
    return new NodeView(
        new NodeInfo(index, "n" + index, "10.0.0." + index, List.of("0"), "H100", 96, "/w"),
        link,
        Optional.of(42L),
        0,
        "",
        1);
  }

  private static RunView run(int number, RunView.State state, Optional<Integer> exit) {
    return new RunView(
        number,
        "devbox",
        RunKind.PROGRAM,
        new RunView.Progress(
            state,
            exit,
            BEGUN,
            exit.map(_ -> BEGUN.plus(Duration.ofMinutes(12))),
            Optional.empty(),
            Optional.empty(),
            Trace.none()),
        new RunView.Launched(List.of("t.py"), 2, List.of(), 42, "torchrun", "", false),
        "");
  }

  private static Picture of(SessionView view, RunView... runs) {
    return new Picture(Optional.of(view), List.of(runs), Came.nothing(), List.of());
  }

  private static List<String> between(Picture before, Picture now) {
    return since(LastSeen.NOTHING.after(before), now);
  }

  private static List<String> since(LastSeen before, Picture now) {
    List<String> shown =
        PictureChanges.between(before, now, Instant::toString).stream()
            .map(ShellEvent::shown)
            .toList();
    shown.forEach(SuggestedCommands::check);
    return shown;
  }

  private List<String> between(SessionView before, SessionView now) {
    return between(of(before), of(now));
  }

  private SessionView with(SessionView.Work work) {
    return new ViewChange(session).with(work).view();
  }

  private SessionView hard(long seconds) {
    return new ViewChange(session).hardEnd(Optional.of(Duration.ofSeconds(seconds))).view();
  }

  private SessionView ending(int hardMinutes, int idleMinutes, List<Duration> warnings) {
    var lease =
        new SessionView.Lease(
            Optional.of(Duration.ofMinutes(hardMinutes)),
            Optional.of(Duration.ofMinutes(idleMinutes)),
            "idle",
            warnings);
    return new ViewChange(session).with(lease).view();
  }

  @Test
  void nothingHasHappened() {
    assertEquals(List.of(), between(session, session));
    var none = new Picture(Optional.empty(), List.of(), Came.nothing(), List.of());
    assertEquals(List.of(), between(none, of(session)));
    assertEquals(List.of(), between(none, none));
  }

  @Test
  void aLeaseIsWarnedAboutOnceAtEachMark() {
    var marks = new ArrayList<String>();
    for (int left = 2000; left > 0; left--) {
      marks.addAll(between(hard(left), hard(left - 1)));
    }

    assertEquals(
        List.of(
            "devbox ends in 30m; gpush extend --for 2h moves that where it can be moved",
            "devbox ends in 15m; gpush extend --for 2h moves that where it can be moved",
            "devbox ends in 5m; gpush extend --for 2h moves that where it can be moved"),
        marks);
  }

  @Test
  void aLeaseThatJumpsOverMarksIsWarnedAboutOnce() {
    assertEquals(
        List.of("devbox ends in 4m; gpush extend --for 2h moves that where it can be moved"),
        between(hard(2000), hard(240)));
    assertEquals(List.of(), between(hard(240), hard(7200)));
    assertEquals(
        List.of("devbox is given back in 5m, because nothing uses it; gpush extend keeps it"),
        between(
            new ViewChange(session).idle(Duration.ofSeconds(301)).view(),
            new ViewChange(session).idle(Duration.ofSeconds(299)).view()));
  }

  @Test
  void aLeaseIsWarnedAboutAsItsNodesDo() {
    List<Duration> own = List.of(Duration.ofMinutes(50), Duration.ofHours(2));

    assertEquals(
        List.of("devbox ends in 50m; gpush extend --for 2h moves that where it can be moved"),
        between(ending(51, 90, own), ending(50, 90, own)));
    assertEquals(List.of(), between(ending(31, 90, own), ending(4, 90, own)));
    assertEquals(List.of(), between(ending(31, 90, List.of()), ending(4, 90, List.of())));
  }

  /** Nodes do not warn of it either. */
  @Test
  void anIdleEndBehindTheOtherIsNotWarnedAbout() {
    assertEquals(
        List.of("devbox ends in 29m; gpush extend --for 2h moves that where it can be moved"),
        between(ending(31, 31, WARNINGS), ending(29, 30, WARNINGS)));
  }

  @Test
  void aRunThatEndedSaysHow() {
    Picture running = of(session, run(7, RunView.State.RUNNING, Optional.empty()));

    assertEquals(
        List.of("run 7 (t.py, 2 ranks, 12m) is done"),
        between(running, of(session, run(7, RunView.State.DONE, Optional.of(0)))));
    assertEquals(
        List.of("run 7 (t.py, 2 ranks, 12m) ended with status 3"),
        between(running, of(session, run(7, RunView.State.FAILED, Optional.of(3)))));
    assertEquals(
        List.of("run 7 (t.py, 2 ranks, 12m) was stopped"),
        between(running, of(session, run(7, RunView.State.STOPPED, Optional.of(143)))));
    assertEquals(
        List.of(), between(of(session), of(session, run(7, RunView.State.DONE, Optional.of(0)))));
    assertEquals(
        List.of("run 8 (t.py, 2 ranks, 12m) ended with status 1"),
        between(
            running,
            of(
                session,
                run(8, RunView.State.FAILED, Optional.of(1)),
                run(7, RunView.State.RUNNING, Optional.empty()),
                run(6, RunView.State.DONE, Optional.of(0)))));
  }

  /** The next gateway has only what the shell has kept, and reads runs after its sessions. */
  @Test
  void aRunThatEndedWhileThereWasNoGatewaySaysHow() {
    Picture running = of(session, run(7, RunView.State.RUNNING, Optional.empty()));
    LastSeen kept = kept(LastSeen.NOTHING.after(running));

    assertEquals(List.of(), since(kept, of(session)));
    LastSeen unread = kept.after(of(session));
    Picture ended =
        of(
            session,
            run(8, RunView.State.DONE, Optional.of(0)),
            run(7, RunView.State.FAILED, Optional.of(3)),
            run(6, RunView.State.FAILED, Optional.of(1)));
    assertEquals(
        List.of(
            "run 7 (t.py, 2 ranks, 12m) ended with status 3", "run 8 (t.py, 2 ranks, 12m) is done"),
        since(unread, ended));
    assertEquals(List.of(), since(kept(unread.after(ended)), ended));
  }

  @Test
  void whatANewGatewayHasBroughtHomeIsSaidAndItsNodesAreNoNews() {
    LastSeen kept = kept(LastSeen.NOTHING.after(withCame(new Came(9, 0, List.of("a.py")))));
    SessionView cut = with(work("up", "cut", "it does not answer", "b.py"));

    assertEquals(
        List.of("c.py came home from node 0"),
        since(
            kept,
            new Picture(Optional.of(cut), List.of(), new Came(1, 0, List.of("c.py")), List.of())));
  }

  @Test
  void aSessionThatEndedWhileThereWasNoGatewaySaysWhyOnce() {
    LastSeen kept = kept(LastSeen.NOTHING.after(of(session)));
    Picture unread = new Picture(Optional.empty(), List.of(), Came.nothing(), List.of());
    Picture gone =
        new Picture(
            Optional.empty(), List.of(), Came.nothing(), List.of(new Ended("1f2e", "it was idle")));

    assertEquals(List.of(), since(kept, unread));
    assertEquals(List.of("devbox has ended: it was idle"), since(kept.after(unread), gone));
    assertEquals(List.of(), since(kept.after(gone), gone));
    assertEquals(List.of(), since(kept, of(session("3c4d"))));
  }

  @Test
  void whatAnotherGpushHasKeptIsLeftOut() {
    for (String line : List.of("", "1f2e devbox", "1f2e devbox 7 x", "1f2e devbox 99999999999")) {
      assertEquals(LastSeen.NOTHING, LastSeen.parse(List.of(line.split(" "))), line);
    }
    assertEquals("", LastSeen.NOTHING.line());
  }

  private static LastSeen kept(LastSeen seen) {
    return LastSeen.parse(List.of(seen.line().split(" ")));
  }

  @Test
  void aNodeIsLostAndBack() {
    SessionView cut = with(work("up", "cut", "", ""));

    assertEquals(
        List.of("lost the connection to node 1; what runs there goes on, and gpush tries again"),
        between(session, cut));
    assertEquals(List.of(), between(cut, cut));
    assertEquals(List.of("node 1 is connected again"), between(cut, session));
    assertEquals(
        List.of(
            "lost the connection to nodes 0, 1; what runs there goes on, and gpush tries again"),
        between(session, with(work("cut", "cut", "", ""))));
    SessionView needsYou = with(work("needs you", "up", "", ""));
    assertEquals(
        List.of("node 0 cannot be reached without you: gpush login hpc"),
        between(session, needsYou));
    SessionView ending = new ViewChange(cut).state(SessionState.RELEASING, "").view();
    assertEquals(List.of(), between(session, ending));
  }

  @Test
  void aNodeIsSetAside() {
    SessionView aside = with(work("up", "up", "it does not answer", ""));

    assertEquals(
        List.of("node 1 is left out of saves at G41, because it does not answer"),
        between(session, aside));
    assertEquals(List.of("node 1 gets saves again"), between(aside, session));
    assertEquals(
        List.of("lost the connection to node 1; what runs there goes on, and gpush tries again"),
        between(session, with(work("up", "cut", "its link is cut", ""))));
  }

  @Test
  void aPathIsHeld() {
    assertEquals(
        List.of(
            "a.py is held: changed here, and deleted on node 0; gpush sync status says"
                + " what to do"),
        between(session, with(work("up", "up", "", "a.py"))));
  }

  @Test
  void filesCameHome() {
    Picture none = of(session);
    var two = new Came(2, 0, List.of("b.py", "a.py"));
    var many = new Came(12, 1, List.of("l.py", "k.py", "j.py", "i.py"));

    assertEquals(
        List.of("b.py, a.py came home from node 0"),
        between(none, new Picture(none.session(), List.of(), two, List.of())));
    assertEquals(
        List.of("l.py, k.py, j.py and 9 more came home from node 0"),
        between(none, new Picture(none.session(), List.of(), many, List.of())));
    var same = new Came(2, 0, List.of("a.py", "a.py", "z.py"));
    assertEquals(
        List.of("a.py came home from node 0"),
        between(none, new Picture(none.session(), List.of(), same, List.of())));
    assertEquals(List.of(), between(new Picture(none.session(), List.of(), many, List.of()), none));
  }

  /** A shell that has just run the command leaves it out, if it is not delayed as a repeat. */
  @Test
  void whatACommandHasNamedIsSaidByIt() {
    Picture first = withCame(new Came(1, 0, List.of("a.py")));
    Picture second = withCame(new Came(2, 1, List.of("a.py", "a.py")));
    Picture third = withCame(new Came(3, 2, List.of("a.py", "a.py", "a.py")));
    Picture fourth = withCame(new Came(4, 2, List.of("a.py", "a.py", "a.py", "a.py")));
    var events =
        List.of(
            came(first, second), came(second, third), came(third, fourth), came(second, fourth));

    assertEquals(
        List.of(true, true, false, false), events.stream().map(ShellEvent::isSaid).toList());
    assertEquals(4, events.stream().map(ShellEvent::key).distinct().count());
  }

  private static ShellEvent came(Picture before, Picture now) {
    return PictureChanges.between(LastSeen.NOTHING.after(before), now, Instant::toString)
        .getFirst();
  }

  private Picture withCame(Came came) {
    return new Picture(Optional.of(session), List.of(), came, List.of());
  }

  @Test
  void aRequestWaitsAndIsReady() {
    SessionView second = queued("place 2 of 5");
    SessionView first = queued("place 1 of 4");

    assertEquals(List.of("devbox is queued: place 1 of 4"), between(second, first));
    assertEquals(List.of(), between(first, first));
    assertEquals(List.of("devbox is ready: 2×8 H100 on hpc"), between(first, session));
  }

  /** The prompt has it; in a busy queue each look finds another estimate, or others behind it. */
  @Test
  void aMovingEstimateIsNoNews() {
    SessionView fourth = queued("4 of 19 · ≈14:20 · jobs of higher priority come first");

    assertEquals(
        List.of(),
        between(fourth, queued("4 of 21 · ≈Tue 03:10 · jobs of higher priority come first")));
    assertEquals(
        List.of(), between(fourth, queued("4 of 19 · jobs of higher priority come first")));
    assertEquals(
        List.of("devbox is queued: 3 of 21 · ≈14:20 · jobs of higher priority come first"),
        between(fourth, queued("3 of 21 · ≈14:20 · jobs of higher priority come first")));
    assertEquals(
        List.of("devbox is queued: 4 of 19 · ≈14:20 · your group is at its limit"),
        between(fourth, queued("4 of 19 · ≈14:20 · your group is at its limit")));
    assertEquals(
        List.of("devbox is queued: room for 1 of 3 nodes"),
        between(queued("room for 1 of 2 nodes"), queued("room for 1 of 3 nodes")));
  }

  private SessionView queued(String detail) {
    return new ViewChange(session).queued(detail).view();
  }

  @Test
  void aSessionThatEndedSaysWhy() {
    var ended = new Ended("1f2e", "its lease is over");
    var asked = new Ended("1f2e", "");

    assertEquals(
        List.of("devbox has ended: its lease is over"),
        between(
            of(session), new Picture(Optional.empty(), List.of(), Came.nothing(), List.of(ended))));
    assertEquals(
        List.of("the devbox before this one was given back"),
        between(
            of(session),
            new Picture(Optional.of(session("3c4d")), List.of(), Came.nothing(), List.of(asked))));
    assertEquals(
        List.of("the devbox before this one has ended: its lease is over"),
        between(
            of(session),
            new Picture(Optional.of(session("3c4d")), List.of(), Came.nothing(), List.of(ended))));
  }

  @Test
  void theLineAtTheBottomHasAllThatChanges() {
    var text =
        new PictureText(
            of(hard(5 * 3600 + 700), run(7, RunView.State.RUNNING, Optional.empty())),
            BEGUN.plus(Duration.ofSeconds(130)));

    assertEquals(
        "devbox on hpc · 2×8 H100 · ready · 5h12m, 1h idle · ✓G42 · run 7 (t.py, 2 ranks, 2m)",
        text.status());
    assertEquals("devbox 2×8 H100 · 5h12m left · ✓G42, run 7 on G42 >", text.prompt().strip());
  }

  @Test
  void aShownMinuteChangesExactlyThen() {
    for (int left = 61; left < 400; left++) {
      long next = new PictureText(of(hard(left)), BEGUN).untilNext().toSeconds();
      String shown = SessionText.lease(hard(left));
      assertEquals(shown, SessionText.lease(hard(left - next + 1)), left + " s");
    }
  }
}
