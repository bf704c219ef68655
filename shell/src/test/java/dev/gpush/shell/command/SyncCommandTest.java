package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SendReason.Kind;
import dev.gpush.core.session.SendReason.Verdict;
import dev.gpush.core.session.SyncView;
import java.time.Instant;
import java.util.List;
import java.util.Map;
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
        new SyncView(
            SyncView.Mode.LIVE,
            true,
            Optional.of(43L),
            equal,
            0,
            List.of(),
            SyncView.Incoming.NONE,
            List.of(),
            List.of(),
            "",
            SyncView.Versions.none(),
            "");
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
            0,
            List.of("model.py", "train.py"),
            SyncView.Incoming.COMING,
            List.of(
                new SyncView.Held("", "run 7 on G43"),
                new SyncView.Held("ckpt.pt", "over 50 MB and not in git")),
            List.of(
                new SyncView.Held("runs/", "programs call their output so"),
                new SyncView.Held("big.csv", "it has more than 5 MB")),
            "looks every 2s, because nfs4 reports no changes of other machines",
            SyncView.Versions.none(),
            "");
    desk.expect(
        """
        $ gpush sync status
        devbox is not synced; all nodes have G43; 2 files on the way to the nodes, waiting: run 7 on G43; changes on node 0 on the way here; 1 file not sent
          on the way to the nodes: model.py, train.py
          not sent: ckpt.pt: over 50 MB and not in git
          new on node 0, and stays there: runs/: programs call their output so
          new on node 0, and stays there: big.csv: it has more than 5 MB
          gpush pull PATH fetches what you want of it
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
            0,
            List.of(),
            SyncView.Incoming.WAITING,
            List.of(),
            List.of(),
            "",
            SyncView.Versions.none(),
            "");
    desk.expect(
        """
        $ gpush sync pause
        devbox is paused; the newest on a node is G43; changes on node 0 on the way here, waiting; node 1 behind
          node 1 has G41, because its disk is full
        $ gpush sync resume
        devbox is paused; the newest on a node is G43; changes on node 0 on the way here, waiting; node 1 behind
          node 1 has G41, because its disk is full
        $ gpush sync now
        2> devbox has G43 on all nodes
        $ gpush sync later
        2> gpush: gpush sync was not run
        2>   because WHAT must be status, pause, resume or now, not 'later'
        2>   try: gpush help sync
        ? 2
        """);
  }

  @Test
  void heldPathsAreNamedAndDecided() {
    desk.environment("TZ", "Asia/Tokyo");
    desk.sessions.add("devbox", Desk.PROJECT, 1, GpuRequest.none());
    var held =
        new HeldPath(
            "model.py",
            HeldPath.Reason.CHANGED_BOTH,
            0,
            Optional.of(Instant.parse("2026-11-27T03:15:04Z")),
            Optional.of(Instant.parse("2026-11-27T03:16:10Z")),
            "");
    desk.sessions.syncState =
        new SyncView(
            SyncView.Mode.LIVE,
            false,
            Optional.of(43L),
            List.of(new SyncView.Node(0, Optional.of(43L), "")),
            0,
            List.of(),
            SyncView.Incoming.NONE,
            List.of(),
            List.of(),
            "",
            new SyncView.Versions(
                List.of(held),
                List.of(
                    new SyncView.Trash(Optional.empty(), "/home/me/.gpush/trash/p", 1 << 20, 1),
                    new SyncView.Trash(Optional.of(0), "/n/p.gpush/trash", 10, 2))),
            "");
    desk.expect(
        """
        $ gpush sync -s devbox status
        devbox is not synced; all nodes have G43; 1 file held
          held: model.py: changed here 2026-11-27 12:15:04 and on node 0 2026-11-27 12:16:10
          gpush sync -s devbox --keep laptop PATH sends what is here, --keep node PATH takes node 0's
          trash here: 1 file, 1 MB, in /home/me/.gpush/trash/p
          trash of node 0: 2 files, 10 B, in /n/p.gpush/trash
        $ gpush sync --keep node model.py src
        2> devbox has G44 on all nodes
        $ gpush sync --keep laptop .
        2> devbox has G44 on all nodes
        $ gpush sync --keep both .
        2> gpush: gpush sync was not run
        2>   because --keep must be laptop or node, not 'both'
        2>   try: gpush help sync
        ? 2
        $ gpush sync --keep node
        2> gpush: gpush sync was not run
        2>   because --keep needs the paths that it decides about, or . for all
        2>   try: gpush help sync
        ? 2
        """);
    assertEquals(
        List.of("keep devbox NODE [model.py, src]", "keep devbox LAPTOP []"),
        desk.sessions.calls.stream().filter(call -> call.startsWith("keep")).toList());
  }

  @Test
  void explainSaysWhyAPathIsSentOrNotAndWhereThatStands() {
    explains(reason(Kind.FILE, Verdict.IGNORED, "data/x.bin", "*.bin", 2));
    desk.expect(
        """
        $ gpush sync --explain data/x.bin
        data/x.bin is not sent: *.bin (.gitignore:2) ignores it
        """);
    explains(reason(Kind.MISSING, Verdict.IGNORED, "data", "data/", 3));
    desk.expect(
        """
        $ gpush sync --explain data/x.bin
        data/x.bin is not there; it would not be sent: data/ (.gitignore:3) ignores data
        """);
    explains(reason(Kind.FILE, Verdict.TRACKED, "data", "data/", 3));
    desk.expect(
        """
        $ gpush sync --explain data/x.bin
        data/x.bin is sent: git tracks it, although data/ (.gitignore:3) ignores data
        """);
    explains(reason(Kind.FILE, Verdict.SENT, "data/x.bin", "!*.bin", 4));
    desk.expect(
        """
        $ gpush sync --explain data/x.bin
        data/x.bin is sent: !*.bin (.gitignore:4) includes it
        """);
    explains(reason(Kind.FOLDER, Verdict.NEVER, ".venv", ".venv", 0));
    desk.expect(
        """
        $ gpush sync --explain .venv
        data/x.bin is not sent: the name .venv is never sent; the line !.venv in .gpushignore sends it
        """);
  }

  @Test
  void explainKnowsLinksSizesAndPathsThatAreNowhere() {
    Map<Verdict, String> sentences =
        Map.of(
            Verdict.LARGE,
            "is sent only after a question: over 50 MB and not in git (sync.ask-over)",
            Verdict.LEADS_OUT,
            "is not sent: it is a link that points out of the workspace, to over 50 MB and not in"
                + " git",
            Verdict.NO_REGULAR_FILE,
            "is not sent: it is no regular file, folder or link",
            Verdict.BEHIND_LINK,
            "is not sent: up is a link, and links are not followed",
            Verdict.BELOW_FILE,
            "is not there: up is no folder",
            Verdict.OUTSIDE,
            "is not sent: it is outside the workspace ~/proj",
            Verdict.SENT,
            "is sent: no rule ignores it");
    sentences.forEach(
        (verdict, sentence) -> {
          explains(
              new SendReason(
                  "up/x", Kind.FILE, verdict, "up", Optional.empty(), "over 50 MB and not in git"));
          desk.expect("$ gpush sync --explain up/x\nup/x " + sentence + "\n");
        });
  }

  private void explains(SendReason reason) {
    desk.sendReason = _ -> reason;
  }

  private static SendReason reason(
      Kind kind, Verdict verdict, String at, String pattern, int line) {
    return new SendReason(
        "data/x.bin",
        kind,
        verdict,
        at,
        Optional.of(new SendReason.Rule(pattern, ".gitignore", line)),
        "");
  }
}
