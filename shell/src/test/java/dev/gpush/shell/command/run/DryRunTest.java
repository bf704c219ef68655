package dev.gpush.shell.command.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.Runs.Preview.Launch;
import dev.gpush.core.run.Runs.Preview.Start;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.session.SyncView.Preview.Sent;
import dev.gpush.shell.command.Desk;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What commands with --dry-run print, and that they do nothing. */
final class DryRunTest {
  private static final SyncView.Preview FILES =
      new SyncView.Preview(
          List.of(new Sent("train.py", 2000), new Sent("model.py", 3000)),
          5000,
          List.of("old.py"),
          List.of("notes.txt"),
          List.of("tmp.py"),
          List.of(),
          List.of("100 of 120 files are gone here. Remove them on the nodes too?"));

  private static final SyncView.Preview HELD =
      new SyncView.Preview(
          List.of(),
          0,
          List.of(),
          List.of(),
          List.of(),
          List.of(
              new HeldPath(
                  "model.py",
                  HeldPath.Reason.CHANGED_BOTH,
                  0,
                  Optional.empty(),
                  Optional.empty(),
                  "")),
          List.of());

  private final Desk desk = new Desk();

  @Test
  void aRunSaysWhatEachNodeWouldStart() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.syncPreview = FILES;
    desk.runs.preview =
        new Launch(
            "run 8 · 4 ranks · ~/proj",
            List.of(
                new Start(0, List.of("0", "1"), 2, "python3 -u train.py"),
                new Start(1, List.of("0", "1"), 2, "torchrun --nnodes 2 train.py"),
                new Start(2, List.of("0"), 1, "")),
            List.of("run 7"),
            Optional.empty());

    desk.expect(
        """
        $ gpush run --dry-run train.py
        would start run 8 · 4 ranks · ~/proj on devbox
          would send 2 files, 5 kB: train.py, model.py
          would delete on the nodes: old.py
          would bring home: notes.txt
          would delete here: tmp.py
          would ask first: 100 of 120 files are gone here. Remove them on the nodes too?
          would run first, if it has to: make deps
          would wait for run 7
          node 0, slots 0,1: 2 times python3 -u train.py
          node 1, slots 0,1: torchrun --nnodes 2 train.py
          node 2, slot 0: what node 0 starts here
        """);
    assertEquals(List.of(), desk.runs.launched);
    assertEquals(List.of(), desk.sessions.calls);
  }

  @Test
  void aRunWithoutASessionSaysWhereOneWouldBeMade() {
    desk.sessions.plans.put("rack", new Plan.Now("4 of 8 GPUs are free"));

    desk.expect(
        """
        $ gpush run --dry-run train.py
        would get a session first:
        BACKEND  WHEN  WHAT
        rack     now   4 of 8 GPUs are free
        """);
    assertEquals(List.of(), desk.runs.launched);
  }

  @Test
  void whatASyncWouldHoldIsItsFailure() {
    desk.sessions.add("devbox", Desk.PROJECT, 1, GpuRequest.none());
    desk.expect(
        """
        $ gpush sync --dry-run
        devbox has everything; nothing would be sent
        $ gpush sync status --dry-run
        2> gpush: gpush sync was not run
        2>   because --dry-run is for gpush sync now
        2>   try: gpush help sync
        ? 2
        """);
    desk.sessions.syncPreview = HELD;
    desk.expect(
        """
        $ gpush sync now --dry-run
        devbox would change
          would hold model.py: changed here and on node 0
        2> gpush: model.py is held: both versions stay where they are
        2>   because model.py: changed here and on node 0
        2>   try: gpush sync --keep laptop model.py sends what is here; gpush sync --keep node model.py takes what is there; the other version goes to a trash
        ? 1
        """);
    assertEquals(List.of(), desk.sessions.calls);
  }

  @Test
  void anExtensionSaysBothEnds() {
    desk.sessions.add("devbox", Desk.PROJECT, 1, GpuRequest.none());

    desk.expect(
        """
        $ gpush extend --dry-run
        devbox has no hard end, 48m idle; would have no hard end, 1h idle
        $ gpush extend --for 2h --dry-run
        devbox has no hard end, 48m idle; would have 2h, 1h idle
          local may refuse a later end; only asking it tells
        """);
    assertEquals(List.of(), desk.sessions.calls);
  }

  @Test
  void aStopNamesTheSignalsAndTheNodes() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "done", Optional.of(0), "train.py");
    desk.runs.add(7, "running", Optional.empty(), "train.py");

    desk.expect(
        """
        $ gpush stop --dry-run
        would stop run 7 (train.py, 2 ranks, 3m) on devbox: INT to all ranks on node 0 and node 1, KILL to what is left after 10s
        $ gpush stop 7 --kill --dry-run
        would stop run 7 (train.py, 2 ranks, 3m) on devbox: KILL to all ranks on node 0 and node 1
        $ gpush stop 6 --dry-run
        run 6 has ended already: done
        """);
    assertEquals(List.of(), List.copyOf(desk.runs.stops));
  }
}
