package dev.gpush.shell.command;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SyncView;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What gpush sync says about files that are not on the nodes. */
final class SyncCommandTest {
  private final Desk desk = new Desk();

  @Test
  void syncSaysWhatIsNotOnTheNodesAndWhy() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    List<SyncView.Node> equal =
        List.of(
            new SyncView.Node(0, Optional.of(43L), ""), new SyncView.Node(1, Optional.of(43L), ""));
    desk.sessions.syncState =
        new SyncView(SyncView.Mode.LIVE, true, Optional.of(43L), equal, List.of(), List.of(), "");
    desk.expect(
        """
        $ gpush sync status
        devbox is synced: all nodes have G43
        """);
    desk.sessions.syncState =
        new SyncView(
            SyncView.Mode.LIVE,
            false,
            Optional.of(43L),
            equal,
            List.of("model.py", "train.py"),
            List.of(
                new SyncView.Held("", "run 7 on G43"),
                new SyncView.Held("ckpt.pt", "over 50 MB and not in git")),
            "looks every 2s, because nfs4 reports no changes of other machines");
    desk.expect(
        """
        $ gpush sync status
        devbox is not synced; all nodes have G43, 2 files held: run 7 on G43
          not sent yet: model.py, train.py
          not sent: ckpt.pt: over 50 MB and not in git
          changes are noticed late: looks every 2s, because nfs4 reports no changes of other machines
        """);
    desk.sessions.syncState =
        new SyncView(
            SyncView.Mode.PAUSED,
            false,
            Optional.of(43L),
            List.of(
                new SyncView.Node(0, Optional.of(43L), ""),
                new SyncView.Node(1, Optional.of(41L), "its disk is full")),
            List.of(),
            List.of(),
            "");
    desk.expect(
        """
        $ gpush sync pause
        devbox is paused; the newest on a node is G43
          node 1 has G41, because its disk is full
        $ gpush sync resume
        devbox is paused; the newest on a node is G43
          node 1 has G41, because its disk is full
        $ gpush sync now
        2> devbox has G43 on all nodes
        $ gpush sync later
        2> gpush: gpush sync was not run
        2>   because WHAT must be status, pause, resume or now, not later
        2>   try: gpush help sync
        ? 2
        """);
  }
}
