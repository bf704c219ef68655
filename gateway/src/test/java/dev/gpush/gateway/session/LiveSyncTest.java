package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.run.RunView;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Saves go to the nodes by themselves, or are held and said; with real agents. */
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class LiveSyncTest {
  private SessionRig rig;
  private SessionService gateway;
  private Path project;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.live();
    gateway = rig.gateway();
    project = rig.project("project");
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private SessionView up(int nodes) throws InterruptedException {
    SessionView made = gateway.sessions().up(ask(project, nodes), Talk.silent());
    gateway.sessions().sync(DEVBOX, false, Talk.silent());
    return made;
  }

  private void write(String file, String text) {
    try {
      Path path = project.resolve(file);
      Files.createDirectories(path.getParent());
      Files.writeString(path, text);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private SyncView state() {
    return gateway.sessions().syncState(DEVBOX);
  }

  private boolean has(NodeView node, String file, String text) {
    Path there = Path.of(node.info().workspace()).resolve(file);
    try {
      return Files.exists(there) && Files.readString(there).equals(text);
    } catch (IOException replaced) {
      return false;
    }
  }

  private void awaitOnAll(SessionView session, String file, String text) {
    for (NodeView node : session.nodes()) {
      until(
          file + " is on node " + node.info().index() + ": " + state(),
          () -> has(node, file, text));
    }
  }

  private void awaitSynced() {
    until("it is synced", () -> state().isSynced());
  }

  private void awaitHeld(String why) {
    until(
        "held because of " + why + ": " + state(),
        () -> state().held().stream().anyMatch(held -> held.why().contains(why)));
  }

  @Test
  void aSaveIsOnAllNodesWithoutACommand() throws Exception {
    SessionView session = up(2);

    write("train.py", "print('edited')\n");
    awaitOnAll(session, "train.py", "print('edited')\n");
    write("pkg/deep/new.py", "x = 1\n");
    awaitOnAll(session, "pkg/deep/new.py", "x = 1\n");
    Path beside = project.resolve("train.py.tmp");
    Files.writeString(beside, "print('renamed')\n");
    Files.move(beside, project.resolve("train.py"), StandardCopyOption.ATOMIC_MOVE);
    awaitOnAll(session, "train.py", "print('renamed')\n");
    Files.delete(project.resolve("pkg/deep/new.py"));
    awaitSynced();

    Path node = Path.of(session.nodes().getFirst().info().workspace());
    assertFalse(Files.exists(node.resolve("pkg/deep/new.py")));
    assertFalse(Files.exists(node.resolve("train.py.tmp")));
    long held = state().generation().orElseThrow();
    assertEquals(held, gateway.sessions().sync(DEVBOX, false, Talk.silent()));
  }

  /** I5: as soon as a save is complete, "synced" means that the nodes have it. */
  @Test
  void syncedIsNeverSaidBeforeTheNodesHaveTheSave() throws Exception {
    SessionView session = up(2);
    for (int i = 0; i < 30; i++) {
      String text = "x = " + i + "\n";
      String file = "f" + i % 5 + ".py";
      write(file, text);
      awaitSynced();
      for (NodeView node : session.nodes()) {
        assertTrue(has(node, file, text), "save " + i + " is not on " + node.info().index());
      }
    }
  }

  @Test
  void savesWaitForARunOnSeveralNodesAndAreAppliedAtItsEnd() throws Exception {
    SessionView session = up(2);
    RunView run = gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());

    write("train.py", "print('edited')\n");
    awaitHeld("run 1 on G" + run.generation());
    assertEquals(List.of("train.py"), state().pending());
    assertFalse(state().isSynced());
    for (NodeView node : session.nodes()) {
      assertTrue(has(node, "train.py", "print('hello')\n"));
    }

    gateway.runs().stop(DEVBOX, run.number(), "KILL", Duration.ofSeconds(1), Talk.silent());

    awaitOnAll(session, "train.py", "print('edited')\n");
    awaitSynced();
  }

  @Test
  void savesGoOnDuringARunOnOneNode() throws Exception {
    SessionView session = up(1);
    gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());

    write("train.py", "print('edited')\n");

    awaitOnAll(session, "train.py", "print('edited')\n");
  }

  @Test
  void theProjectMayHaveSavesAppliedDuringRuns() throws Exception {
    write("gpush.yaml", "sync: {while-running: apply}\n");
    SessionView session = up(2);
    gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());

    write("train.py", "print('edited')\n");

    awaitOnAll(session, "train.py", "print('edited')\n");
  }

  @Test
  void manyDeletionsAreHeldUntilACommandAsks() throws Exception {
    for (int i = 0; i < 60; i++) {
      write("many/f" + i, "" + i);
    }
    SessionView session = up(2);
    for (int i = 0; i < 60; i++) {
      Files.delete(project.resolve("many/f" + i));
    }

    awaitHeld("files are gone here");

    assertTrue(has(session.nodes().getFirst(), "many/f7", "7"));
    assertFalse(state().isSynced());
  }

  @Test
  void aWorkspaceThatIsGoneDeletesNothing() throws Exception {
    SessionView session = up(2);
    Path away = Files.move(project, rig.path("elsewhere"));

    awaitHeld("not there");
    assertTrue(has(session.nodes().getFirst(), "train.py", "print('hello')\n"));

    Files.move(away, project);
    awaitSynced();
    write("train.py", "print('back')\n");
    awaitOnAll(session, "train.py", "print('back')\n");
  }

  @Test
  void aConflictIsHeldAndTheNodesKeepTheirFiles() throws Exception {
    SessionView session = up(2);
    Path there = Path.of(session.nodes().get(1).info().workspace()).resolve("train.py");
    Files.writeString(there, "print('mine')\n");

    write("train.py", "print('yours')\n");

    awaitHeld("train.py");
    assertEquals("print('mine')\n", Files.readString(there));
    assertTrue(has(session.nodes().getFirst(), "train.py", "print('hello')\n"));

    gateway.sessions().sync(DEVBOX, true, Talk.silent());
    awaitSynced();
  }

  @Test
  void aPauseIsRememberedByTheNextGateway() throws Exception {
    SessionView session = up(2);
    gateway.sessions().pauseSync(DEVBOX);
    write("train.py", "print('edited')\n");
    until("it is pending", () -> state().pending().equals(List.of("train.py")));
    gateway.close();

    gateway = rig.gateway();
    gateway.recover();
    SessionRig.awaitSettled(gateway);
    until("it is pending again: " + state(), () -> state().pending().equals(List.of("train.py")));
    assertEquals(SyncView.Mode.PAUSED, state().mode());
    assertTrue(has(session.nodes().getFirst(), "train.py", "print('hello')\n"));

    gateway.sessions().resumeSync(DEVBOX);
    awaitOnAll(session, "train.py", "print('edited')\n");
  }

  @Test
  void whatChangedWhileNoGatewayRanIsFound() throws Exception {
    SessionView session = up(2);
    gateway.close();
    write("train.py", "print('meanwhile')\n");

    gateway = rig.gateway();
    gateway.recover();

    awaitOnAll(session, "train.py", "print('meanwhile')\n");
  }

  @Test
  void aLostNodeDoesNotHoldUpTheOthers() throws Exception {
    SessionView session = up(3);
    rig.site().kill(rig.gang(session), 1);
    ProcessHandle.of(session.nodes().get(1).agentPid()).orElseThrow().destroyForcibly();

    write("train.py", "print('edited')\n");

    for (int node : new int[] {0, 2}) {
      NodeView view = session.nodes().get(node);
      until(
          "node " + node + " has it: " + state(), () -> has(view, "train.py", "print('edited')\n"));
    }
    until("node 1 is named: " + state(), () -> !state().nodes().get(1).behind().isEmpty());
    assertFalse(state().isSynced());
  }

  @Test
  void aLogThatGrowsAllTheTimeIsSentLessAndLessOften() throws Exception {
    SessionView session = up(1);
    long before = state().generation().orElseThrow();
    try (var out = Files.newBufferedWriter(project.resolve("out.log"))) {
      until(
          "it is left out for a while",
          () -> {
            try {
              out.write("a line\n");
              out.flush();
            } catch (IOException broken) {
              throw new UncheckedIOException(broken);
            }
            return state().held().stream().anyMatch(held -> held.what().equals("out.log"));
          });
      write("train.py", "print('edited')\n");
      awaitOnAll(session, "train.py", "print('edited')\n");
    }
    assertTrue(state().generation().orElseThrow() > before);
  }
}
