package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.link.BlockingStream;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Saves go to the nodes by themselves, or are held and said; with real agents. */
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class LiveSyncTest {
  /** No buffer between the gateway and a node holds so much. */
  private static final int MORE_THAN_CREDIT = 16 << 20;

  private SessionRig rig;
  private GatewaySessions gateway;
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
    SessionView made = gateway.up(ask(project, nodes), Talk.silent());
    gateway.sync(DEVBOX, false, Talk.silent());
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
    return gateway.syncState(DEVBOX);
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
          () -> file + " is on node " + node.info().index() + ": " + state(),
          () -> has(node, file, text));
    }
  }

  private void awaitSynced() {
    until("it is synced", () -> state().isSynced());
  }

  private void awaitHeld(String why) {
    until(
        () -> "held because of " + why + ": " + state(),
        () ->
            state().held().stream().anyMatch(held -> held.why().contains(why))
                || state().versions().held().stream()
                    .anyMatch(held -> (held.path() + ": " + held.why()).contains(why)));
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
    assertEquals(held, gateway.sync(DEVBOX, false, Talk.silent()));
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
    // A look that is under way would see them go one by one, as `rm` removes them, and the first
    // may be sent before there are many.
    awaitSynced();
    Files.move(project.resolve("many"), rig.path("elsewhere"));

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
  void whatDriftedOnANodeIsHeldAndTheRestOfASaveGoes() throws Exception {
    SessionView session = up(2);
    Path there = Path.of(session.nodes().get(1).info().workspace()).resolve("train.py");
    Files.writeString(there, "print('mine')\n");

    write("train.py", "print('yours')\n");
    write("other.py", "1");

    awaitHeld("train.py: changed on node 1");
    awaitOnAll(session, "other.py", "1");
    assertFalse(state().isSynced());
    assertEquals("print('mine')\n", Files.readString(there));
    assertTrue(has(session.nodes().getFirst(), "train.py", "print('hello')\n"));

    gateway.sync(DEVBOX, true, Talk.silent());
    awaitSynced();
  }

  @Test
  void anEditOnNode0ComesHomeWhileSomeoneIsConnected() throws Exception {
    SessionView session = up(2);
    BlockingStream terminal = terminalOnNode0();
    Path there = Path.of(session.nodes().getFirst().info().workspace()).resolve("train.py");

    Files.writeString(there, "print('edited there')\n");

    until("it is here", () -> read("train.py").equals("print('edited there')\n"));
    awaitOnAll(session, "train.py", "print('edited there')\n");
    awaitSynced();
    gateway.pauseSync(DEVBOX); // Else the one may come home before the other is written.
    Files.writeString(there, "print('there')\n");
    write("train.py", "print('here')\n");
    gateway.resumeSync(DEVBOX);
    awaitHeld("train.py: changed here ");
    assertEquals("print('there')\n", Files.readString(there));
    write("train.py", "print('there')\n");
    awaitSynced();
    awaitOnAll(session, "train.py", "print('there')\n");
    terminal.input().close();
    terminal.awaitClose();
  }

  @Test
  void whatIsMadeAndDeletedOnNode0ComesHomeWhileSomeoneIsConnectedAndASaveUndoesNothing()
      throws Exception {
    write("gone.py", "1");
    write("other.py", "1");
    SessionView session = up(2);
    BlockingStream terminal = terminalOnNode0();
    Path there = Path.of(session.nodes().getFirst().info().workspace());

    Files.createDirectories(there.resolve("pkg"));
    Files.writeString(there.resolve("pkg/new.py"), "new");
    Files.writeString(there.resolve("train.log"), "1");
    Files.delete(there.resolve("gone.py"));
    write("train.py", "print('saved meanwhile')\n");

    awaitOnAll(session, "pkg/new.py", "new");
    until("it is deleted here", () -> !Files.exists(project.resolve("gone.py")));
    awaitOnAll(session, "train.py", "print('saved meanwhile')\n");
    awaitSynced();
    for (NodeView node : session.nodes()) {
      assertFalse(Files.exists(Path.of(node.info().workspace()).resolve("gone.py")));
    }
    assertEquals("new", read("pkg/new.py"));
    assertEquals(
        List.of(new SyncView.Held("train.log", "programs call their output so")),
        state().staying());
    terminal.input().close();
    terminal.awaitClose();
  }

  @Test
  void aSaveOfAPersonKeepsTheNodesAndALogDoesNot() throws Exception {
    SessionView session = up(2);
    awaitLastUse("files");
    // Again if the agent looked at its processes in the meantime: the look names what it saw.
    until("the last use is a command", this::isUsedByACommand);

    write("out.log", "step 1");
    write(".idea/workspace.xml", "1");
    awaitOnAll(session, "out.log", "step 1");
    awaitOnAll(session, ".idea/workspace.xml", "1");
    awaitSynced();
    assertEquals("a command", lastUse());
    write("train.py", "print('edited')\n");
    awaitLastUse("files");
  }

  private boolean isUsedByACommand() {
    try {
      gateway
          .find(DEVBOX)
          .link(0)
          .open(Json.object("type", "exec", "command", "true"))
          .awaitClose();
    } catch (InterruptedException stop) {
      throw new AssertionError(stop);
    }
    return lastUse().equals("a command");
  }

  private String lastUse() {
    try {
      Json status = gateway.find(DEVBOX).link(0).call("status", Json.object());
      return status.object("nodes_idle").object("0").text("why").orElseThrow();
    } catch (InterruptedException stop) {
      throw new AssertionError(stop);
    }
  }

  private void awaitLastUse(String why) {
    until("the last use is " + why, () -> lastUse().equals(why));
  }

  private BlockingStream terminalOnNode0() {
    return gateway
        .find(DEVBOX)
        .link(0)
        .open(Json.object("type", "exec", "stdin", true, "command", "read line; exit 0"));
  }

  private String read(String file) {
    try {
      return Files.readString(project.resolve(file));
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  @Test
  void aPauseIsRememberedByTheNextGateway() throws Exception {
    SessionView session = up(2);
    gateway.pauseSync(DEVBOX);
    write("train.py", "print('edited')\n");
    until("it is pending", () -> state().pending().equals(List.of("train.py")));
    gateway.close();

    gateway = rig.gateway();
    gateway.recover();
    SessionRig.awaitSettled(gateway);
    until(
        () -> "it is pending again: " + state(),
        () -> state().pending().equals(List.of("train.py")));
    assertEquals(SyncView.Mode.PAUSED, state().mode());
    assertTrue(has(session.nodes().getFirst(), "train.py", "print('hello')\n"));

    gateway.resumeSync(DEVBOX);
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
          () -> "node " + view.info().index() + " has it: " + state(),
          () -> has(view, "train.py", "print('edited')\n"));
    }
    until(() -> "node 1 is named: " + state(), () -> !state().nodes().get(1).behind().isEmpty());
    assertFalse(state().isSynced());
  }

  /** The next save, or no save at all, fills it; that it restarted is for the user to know. */
  @Test
  void aRestartedNodeIsFilledAtOnceAndTheRestartIsSaidUntilACommandHasSaidIt() throws Exception {
    gateway = rig.gateway(List.of(rig.backend().guarded()), SessionRig.DEADLINE);
    SessionView session = up(2);
    NodeView node = session.nodes().get(1);
    Path there = Path.of(node.info().workspace());
    Files.move(there.resolveSibling(there.getFileName() + ".gpush"), rig.path("old-state"));
    Files.move(there, rig.path("old-files"));
    ProcessHandle.of(node.agentPid()).orElseThrow().destroyForcibly();

    until(
        () -> "node 1 has its files again: " + state(),
        () -> has(node, "train.py", "print('hello')\n") && state().isSynced());
    write("train.py", "print('edited')\n");
    awaitOnAll(session, "train.py", "print('edited')\n");
    awaitSynced();

    assertEquals(SessionState.READY, shown().state());
    String detail = shown().detail();
    assertTrue(detail.matches("node 1 restarted with an empty disk .* ago"), detail);
    FakeTalk talk = FakeTalk.answering(true);
    gateway.sync(DEVBOX, false, talk);
    assertTrue(
        talk.lines().stream().anyMatch(line -> line.startsWith("node 1 restarted")),
        talk::toString);
    assertEquals("", shown().detail());
  }

  private SessionView shown() {
    return gateway.list().getFirst();
  }

  @Test
  void downDoesNotWaitForANodeThatDoesNotRead() throws Exception {
    SessionView session = up(2);
    stopReading(session.nodes().get(1));

    gateway.down(DEVBOX, true, Talk.silent());

    assertEquals(List.of(), gateway.list());
  }

  @Test
  @Tag("local")
  void neitherDoesUpThatReplaces() throws Exception {
    SessionView session = up(2);
    stopReading(session.nodes().get(0));

    UpRequest three = ask(project, 3).onExisting(UpRequest.Existing.REPLACE_AND_DISCARD);
    SessionView other = gateway.up(three, Talk.silent());

    assertEquals(3, other.nodes().size());
    awaitOnAll(other, "model.bin", Files.readString(project.resolve("model.bin")));
  }

  @Test
  @Tag("local")
  void norDoesALookForEdits() throws Exception {
    SessionView session = up(1);
    LiveSession live = gateway.find(DEVBOX);
    write("train.py", "print('first')\n");
    awaitSynced();
    gateway.pauseSync(DEVBOX);
    stopProcesses(session.nodes().getFirst());
    gateway.resumeSync(DEVBOX); // It looks for what was edited meanwhile.
    until(
        "it is looked at",
        () -> {
          var turn = live.tryBegin("a test");
          turn.ifPresent(TurnQueue.Turn::close);
          return turn.isEmpty();
        });

    gateway.down(DEVBOX, true, Talk.silent());

    assertEquals(List.of(), gateway.list());
  }

  /** A save is on its way there, and cannot arrive. */
  private void stopReading(NodeView node) throws Exception {
    write("train.py", "print('first')\n");
    awaitSynced();
    stopProcesses(node);
    var random = new byte[MORE_THAN_CREDIT];
    new Random(1).nextBytes(random);
    write("model.bin", Base64.getEncoder().encodeToString(random));
    until(
        "it is on its way",
        () -> state().pending().equals(List.of("model.bin")) && state().held().isEmpty());
  }

  private static void stopProcesses(NodeView node) throws Exception {
    List<ProcessHandle> below =
        ProcessHandle.of(node.agentPid()).orElseThrow().descendants().toList();
    assertFalse(below.isEmpty(), "files is a process of the agent");
    for (ProcessHandle each : below) {
      int status = new ProcessBuilder("kill", "-STOP", "" + each.pid()).start().waitFor();
      assertTrue(status == 0 || !each.isAlive(), each::toString);
    }
  }

  @Test
  @Tag("speed")
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
