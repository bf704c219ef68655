package dev.gpush.shell.render;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.session.SyncView.Incoming;
import dev.gpush.core.session.SyncView.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is seen of each state of a session's files: a tick, or what is on its way and where to. */
final class SyncTextTest {
  private static final String ALL = "is not synced; all nodes have G42";

  private final List<SyncView.Node> nodes = new ArrayList<>();
  private final List<SyncView.Held> held = new ArrayList<>();
  private final List<HeldPath> versions = new ArrayList<>();
  private Mode mode = Mode.LIVE;
  private boolean isSynced;
  private Incoming incoming = Incoming.NONE;
  private int pending;
  private int editNode;

  SyncTextTest() {
    IntStream.range(0, 2).forEach(index -> node(index, 42L, ""));
  }

  private void node(int index, long generation, String behind) {
    nodes.add(new SyncView.Node(index, Optional.of(generation), behind));
  }

  private void shows(String prompt, String headline) {
    var text =
        new SyncText(
            new SyncView(
                mode,
                isSynced,
                Optional.of(42L),
                nodes,
                editNode,
                IntStream.range(0, pending).mapToObj(index -> index + ".py").toList(),
                incoming,
                held,
                List.of(),
                "",
                new SyncView.Versions(versions, List.of()),
                ""));
    assertEquals(List.of(prompt, headline), List.of(text.prompt(), text.headline()));
  }

  @Test
  void allHaveTheSame() {
    isSynced = true;
    shows("✓G42", "is synced: all nodes have G42");
  }

  @Test
  void savesAreOnTheWayToTheNodes() {
    pending = 3;
    shows("↑3", ALL + "; 3 files on the way to the nodes");
  }

  @Test
  void whatCameHomeDuringARunIsOnTheWayToTheOtherNodes() {
    pending = 1;
    held.add(new SyncView.Held("", "run 7 on G41"));
    shows("↑1 waiting", ALL + "; 1 file on the way to the nodes, waiting: run 7 on G41");
  }

  @Test
  void changesOnNode0AreOnTheWayHere() {
    incoming = Incoming.COMING;
    shows("↓", ALL + "; changes on node 0 on the way here");
    pending = 2;
    shows("↑2 ↓", ALL + "; 2 files on the way to the nodes; changes on node 0 on the way here");
  }

  @Test
  void changesAreNamedByTheNodeWherePeopleEdit() {
    editNode = 1;
    incoming = Incoming.COMING;
    shows("↓", ALL + "; changes on node 1 on the way here");
  }

  @Test
  void changesOnNode0MayWait() {
    incoming = Incoming.WAITING;
    shows("↓ waiting", ALL + "; changes on node 0 on the way here, waiting");
    held.add(new SyncView.Held("", "many files are gone; gpush sync asks"));
    shows(
        "↓ waiting",
        ALL + "; changes on node 0 on the way here, waiting: many files are gone; gpush sync asks");
  }

  @Test
  void whatIsHeldOrNotSentIsCounted() {
    for (String path : List.of("a.py", "b.py")) {
      versions.add(
          new HeldPath(
              path, HeldPath.Reason.CHANGED_BOTH, 0, Optional.empty(), Optional.empty(), ""));
    }
    shows("2 held", ALL + "; 2 files held");
    held.add(new SyncView.Held("big.pt", "over 50 MB"));
    pending = 1;
    shows(
        "↑1, 2 held, 1 not sent",
        ALL + "; 1 file on the way to the nodes; 2 files held; 1 file not sent");
  }

  @Test
  void nodesThatAreBehindAreNamed() {
    node(2, 41L, "its disk is full");
    shows("node 2 behind", "is not synced; the newest on a node is G42; node 2 behind");
    node(3, 40L, "it has not answered for 5s");
    shows(
        "nodes 2 and 3 behind", "is not synced; the newest on a node is G42; nodes 2 and 3 behind");
    IntStream.range(4, 9).forEach(index -> node(index, 40L, "it is lost"));
    shows("7 nodes behind", "is not synced; the newest on a node is G42; 7 nodes behind");
  }

  @Test
  void aPauseHasNoTick() {
    mode = Mode.PAUSED;
    shows("G42 paused", "is paused; all nodes have G42");
    held.add(new SyncView.Held("", "paused"));
    pending = 3;
    shows(
        "↑3 paused",
        "is paused; all nodes have G42; 3 files on the way to the nodes, waiting: paused");
  }

  @Test
  void withoutAKnownDifferenceThereIsNoTickEither() {
    shows("G42", ALL);
    held.add(new SyncView.Held("", "the link to node 1 is cut"));
    shows("G42", ALL + "; the link to node 1 is cut");
    mode = Mode.OFF;
    held.clear();
    shows("G42", "sends files at up, run and sync only; all nodes have G42");
    node(2, 41L, "");
    shows("G42 on 2 of 3", "sends files at up, run and sync only; the newest on a node is G42");
  }
}
