package dev.gpush.shell.render;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Trace;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.ViewChange;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class SessionTextTest {
  private static final Instant CREATED = Instant.parse("2026-11-21T09:00:00Z");

  private final SessionView session =
      new SessionView(
          new SessionView.Identity(
              "1f2e", new SessionName("devbox"), Path.of("/p"), "ann", CREATED),
          new SessionView.Status(SessionState.READY, "", Optional.empty(), false, Trace.none()),
          new SessionView.Place(
              "hpc", "00", 2, new GpuRequest(Optional.of("H100"), 8), Optional.empty()),
          new SessionView.Lease(
              Optional.of(Duration.ofSeconds(5 * 3600 + 12 * 60 + 30)),
              Optional.empty(),
              "a run",
              List.of(Duration.ofMinutes(5), Duration.ofMinutes(30))),
          new SessionView.Work(List.of(node(0), node(1)), Optional.of(42L), 0, ""),
          false);

  private static NodeView node(int index) {
    return new NodeView(
        new NodeInfo(index, "n" + index, "10.0.0." + index, List.of("0"), "H100", 96, "/w"),
        "up",
        Optional.of(42L),
        0,
        "",
        1);
  }

  private static RunView run(int number, long generation) {
    return new RunView(
        number,
        "devbox",
        RunKind.PROGRAM,
        RunView.Progress.starting(CREATED).in(RunView.State.RUNNING),
        new RunView.Launched(List.of("t.py"), 16, List.of(), generation, "torchrun", "", false),
        "");
  }

  private static String prompt(ViewChange change, RunView... runs) {
    return SessionText.prompt(change.view(), List.of(runs));
  }

  @Test
  void everyNodeHasTheLastSave() {
    assertEquals(
        "devbox 2×8 H100 · 5h13m left · ✓G42 > ",
        prompt(new ViewChange(session).sync(sync(true, List.of(), List.of()))));
  }

  @Test
  void aLongReasonLeavesRoomForTheLine() {
    String reason = "its environment is not whole: ".repeat(20);
    var ready = new ViewChange(session).state(SessionState.READY, reason);

    assertEquals(
        "devbox 2×8 H100 · its environment is not whole: its e…! · ✓G42 > ",
        prompt(ready.sync(sync(true, List.of(), List.of()))));
  }

  private static SyncView sync(boolean isSynced, List<String> pending, List<SyncView.Held> held) {
    List<SyncView.Node> nodes =
        List.of(
            new SyncView.Node(0, Optional.of(42L), ""), new SyncView.Node(1, Optional.of(42L), ""));
    return new SyncView(
        SyncView.Mode.LIVE,
        isSynced,
        Optional.of(42L),
        nodes,
        0,
        pending,
        SyncView.Incoming.NONE,
        held,
        List.of(),
        "",
        SyncView.Versions.none(),
        "");
  }

  @Test
  void withoutAWatcherThereIsNoTick() {
    assertEquals("devbox 2×8 H100 · 5h13m left · G42 > ", prompt(new ViewChange(session)));
  }

  @Test
  void savesThatAreNotOnTheNodesAreCounted() {
    assertEquals(
        "devbox 2×8 H100 · 5h13m left · ↑1 > ",
        prompt(new ViewChange(session).sync(sync(false, List.of("a.py"), List.of()))));
    assertEquals(
        "devbox 2×8 H100 · 5h13m left · ↑3 waiting, run 7 on G41 > ",
        prompt(
            new ViewChange(session)
                .sync(
                    sync(
                        false,
                        List.of("a.py", "b.py", "c.py"),
                        List.of(new SyncView.Held("", "run 7 on G41")))),
            run(7, 41)));
    assertEquals(
        "devbox 2×8 H100 · 5h13m left · 1 not sent > ",
        prompt(
            new ViewChange(session)
                .sync(sync(false, List.of(), List.of(new SyncView.Held("big", "over 50 MB"))))));
  }

  @Test
  void nodesThatAreBehindAreCounted() {
    assertEquals(
        "devbox 2×8 H100 · 5h13m left · G43 on 0 of 2 > ",
        prompt(new ViewChange(session).generation(Optional.of(43L))));
  }

  @Test
  void whatNobodyKnowsIsNotCalledNothing() {
    assertEquals(
        "devbox 2×8 H100 · 5h13m left · G? > ",
        prompt(new ViewChange(session).unknownGeneration()));
    assertEquals(
        "devbox 2×8 H100 · 5h13m left · nothing sent yet > ",
        prompt(new ViewChange(session).generation(Optional.of(0L))));
  }

  @Test
  void theEndIsNearFromTheFirstWarning() {
    var lease =
        new SessionView.Lease(
            Optional.of(Duration.ofMinutes(45)),
            Optional.empty(),
            "",
            List.of(Duration.ofMinutes(5), Duration.ofHours(1)));

    assertEquals(
        "devbox 2×8 H100 · 45m left! · G42 > ", prompt(new ViewChange(session).with(lease)));
  }

  @Test
  void theEndIsNear() {
    assertEquals(
        "devbox 2×8 H100 · 28m left! · G42, run 7 on G41 > ",
        prompt(new ViewChange(session).hardEnd(Optional.of(Duration.ofMinutes(28))), run(7, 41)));
    assertEquals(
        "devbox 2×8 H100 · idle, 12m left! · G42 > ",
        prompt(new ViewChange(session).hardEnd(Optional.empty()).idle(Duration.ofMinutes(12))));
    assertEquals(
        "devbox 2×8 H100 · G42, 2 runs > ",
        prompt(
            new ViewChange(session).hardEnd(Optional.empty()).idle(Duration.ofMinutes(58)),
            run(7, 41),
            run(8, 42)));
  }

  @Test
  void otherStatesAreWords() {
    assertEquals(
        "devbox queued 4 of 19 · ≈14:20 · jobs of higher priority come first > ",
        prompt(new ViewChange(session).state(SessionState.QUEUED, "4 of 19" + Desk.WAITS)));
    assertEquals(
        "devbox queued 4 of 19 · ≈14:20 · slurm job 4711 > ",
        prompt(
            new ViewChange(session)
                .state(SessionState.QUEUED, "4 of 19 · ≈14:20 · slurm job 4711")));
    assertEquals(
        "devbox queued 2 of 5 · no node of the cluster has what is asked for at… > ",
        prompt(
            new ViewChange(session)
                .state(
                    SessionState.QUEUED,
                    "2 of 5 · no node of the cluster has what is asked for at the moment")));
    assertEquals(
        "devbox degraded: node 1 is cut > ",
        prompt(new ViewChange(session).state(SessionState.DEGRADED, "node 1 is cut")));
    assertEquals(
        "devbox is starting > ", prompt(new ViewChange(session).state(SessionState.GRANTED, "")));
    assertEquals(
        "devbox degraded: node 1 restarted with an empty disk 3m ago (gpush syn… > ",
        prompt(
            new ViewChange(session)
                .state(
                    SessionState.DEGRADED,
                    "node 1 restarted with an empty disk 3m ago (gpush sync sends the code"
                        + " again)")));
    assertEquals(
        "devbox needs you: Duo for hpc. Nothing is lost > ",
        prompt(
            new ViewChange(session).state(SessionState.DEGRADED, "Duo for hpc").needsLogin("hpc")));
  }

  @Test
  void leaseNamesWhatEndsFirst() {
    assertEquals("5h13m", SessionText.lease(session));
    assertEquals(
        "5h13m, 48m idle",
        SessionText.lease(new ViewChange(session).idle(Duration.ofMinutes(48)).view()));
    assertEquals(
        "5h13m", SessionText.lease(new ViewChange(session).idle(Duration.ofHours(9)).view()));
  }
}
