package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.replacing;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A node whose link is up and that does not answer, or its files process; with real agents. */
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class SlowNodesTest {
  private static final String NAMED = "waiting for node 1, which has not answered for 5s";

  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;
  private Path checkpoint;
  private final Set<Long> stopped = new HashSet<>();

  private SessionView up(SessionRig on) throws Exception {
    return up(on, on.gateway());
  }

  private SessionView up(SessionRig on, GatewaySessions over) throws Exception {
    rig = on;
    gateway = over;
    project = rig.project("project");
    SessionView made = gateway.up(ask(project, 2), Talk.silent());
    gateway.sync(DEVBOX, false, Talk.silent());
    return made;
  }

  @AfterEach
  void end() throws Exception {
    resume();
    rig.close();
  }

  /** What the agent has started: the conversation about files that is open. */
  private void stopFiles(NodeView node) throws Exception {
    List<ProcessHandle> below =
        ProcessHandle.of(node.agentPid()).orElseThrow().descendants().toList();
    assertFalse(below.isEmpty(), "files is a process of the agent");
    for (ProcessHandle each : below) {
      stop(each.pid());
    }
  }

  private void stop(long process) throws Exception {
    signal("-STOP", process);
    stopped.add(process);
  }

  private void resume() throws Exception {
    for (long each : stopped) {
      signal("-CONT", each);
    }
    stopped.clear();
  }

  private static void signal(String name, long process) throws Exception {
    int status = new ProcessBuilder("kill", name, "" + process).start().waitFor();
    assertTrue(status == 0 || ProcessHandle.of(process).isEmpty(), name + " " + process);
  }

  private void write(String text) {
    write(project.resolve("train.py"), text);
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private static boolean has(NodeView node, String text) {
    try {
      return Files.readString(Path.of(node.info().workspace()).resolve("train.py")).equals(text);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private SyncView state() {
    return gateway.syncState(DEVBOX);
  }

  @Test
  void aSaveIsOnTheOthersAndOnTheSlowOneWhenItAnswers() throws Exception {
    SessionView session = up(SessionRig.live());
    NodeView slow = session.nodes().get(1);
    write("print('first')\n");
    until("it is synced", () -> state().isSynced());
    // Its link is cut a while later.
    stop(slow.agentPid());

    write("print('second')\n");

    until(
        () -> "node 1 is named: " + state(),
        () ->
            // Which limit it is past depends on what it was asked when it was stopped.
            state()
                .nodes()
                .get(1)
                .behind()
                .endsWith("; it gets the newest version when it answers"));
    until(
        () -> "node 0 has it: " + state(),
        () -> has(session.nodes().getFirst(), "print('second')\n"));
    assertFalse(has(slow, "print('second')\n"));
    until(() -> "only node 1 is behind: " + state(), () -> state().pending().isEmpty());
    SyncView behind = state();
    assertFalse(behind.isSynced());
    assertEquals(SyncView.Incoming.NONE, behind.incoming());

    resume();

    until(() -> "node 1 has it: " + state(), () -> has(slow, "print('second')\n"));
    until(() -> "it is synced: " + state(), () -> state().isSynced());
  }

  /** A command whose push does not come to an end, and what it has said. */
  private record Waiting(Task<Long, RuntimeException> command, FakeTalk talk) {}

  private Waiting syncThatWaits() throws Exception {
    return syncThatWaits(up(SessionRig.calm()));
  }

  private Waiting syncThatWaits(SessionView session) throws Exception {
    stopFiles(session.nodes().get(1));
    write("print('second')\n");
    FakeTalk talk = FakeTalk.answering(true);
    Task<Long, RuntimeException> command =
        rig.tasks().fork("sync", () -> gateway.sync(DEVBOX, false, talk));
    until(() -> "it is named: " + talk.lines(), () -> talk.lines().contains(NAMED));
    return new Waiting(command, talk);
  }

  @Test
  void downEndsThePushOfACommand() throws Exception {
    Waiting sync = syncThatWaits();

    gateway.down(DEVBOX, true, Talk.silent());

    GpushException ended = assertThrows(GpushException.class, sync.command()::get);
    assertEquals(new SessionFailure.PushStopped("devbox"), ended.failure());
    assertEquals(List.of(), gateway.list());
  }

  /** With a file on node 0 whose disk ends with the session. */
  private Waiting syncBesideACheckpoint() throws Exception {
    SessionRig calm = SessionRig.calm();
    SessionView session =
        up(calm, calm.gateway(List.of(calm.backend().onPassingDisks()), SessionRig.DEADLINE));
    checkpoint = Path.of(session.nodes().getFirst().info().workspace()).resolve("ckpt.pt");
    write(checkpoint, "a night of work");
    return syncThatWaits(session);
  }

  private static String question(int bytes) {
    return "1 file, "
        + bytes
        + " B, exists only on the nodes of devbox and would be lost (node 0: ckpt.pt); give the"
        + " nodes back?";
  }

  private static List<String> questions(FakeTalk talk) {
    return talk.lines().stream().filter(line -> line.endsWith("?")).toList();
  }

  private static void declined(Executable command) {
    var failed = assertThrows(GpushException.class, command);
    assertInstanceOf(UsageFailure.Declined.class, failed.failure());
  }

  @Test
  void aNoToDownOrToReplacingStopsNoPush() throws Exception {
    Waiting sync = syncBesideACheckpoint();
    var no = FakeTalk.answering(false);
    var fits = FakeTalk.answering(false);

    declined(() -> gateway.down(DEVBOX, false, no));
    declined(() -> gateway.up(replacing(ask(project, 3)), no));
    // What fits is not replaced, so it waits.
    Task<SessionView, RuntimeException> up =
        rig.tasks().fork("up", () -> gateway.up(replacing(ask(project, 2)), fits));
    until("it waits", () -> fits.lines().contains("waiting for sync of devbox"));

    assertEquals(List.of(question(15), question(15)), questions(no));
    assertFalse(sync.command().isDone());
    resume();
    sync.command().get();
    assertFalse(up.get().isNew());
    assertEquals(List.of(), questions(fits));
  }

  @Test
  void aYesStopsThePushAndOnlyWhatIsNewIsAskedAgain() throws Exception {
    Waiting sync = syncBesideACheckpoint();
    var answers = new AtomicInteger();
    var talk =
        FakeTalk.answering(
            _ -> {
              boolean isFirst = answers.getAndIncrement() == 0;
              if (isFirst) {
                write(checkpoint, "two nights of work");
              }
              return isFirst;
            });
    var yes = FakeTalk.answering(true);

    declined(() -> gateway.down(DEVBOX, false, talk));
    GpushException ended = assertThrows(GpushException.class, sync.command()::get);
    gateway.down(DEVBOX, false, yes);

    assertEquals(new SessionFailure.PushStopped("devbox"), ended.failure());
    assertEquals(List.of(question(15), question(18)), questions(talk));
    assertEquals(List.of(question(18)), questions(yes));
    rig.assertNothingLeft(gateway);
  }

  @Test
  void ctrlCEndsThePushOfACommandAndTheNextOneReachesAll() throws Exception {
    Waiting sync = syncThatWaits();

    sync.command().cancel();

    assertThrows(InterruptedException.class, sync.command()::get);
    resume();
    gateway.sync(DEVBOX, false, Talk.silent());
    for (NodeView node : gateway.list().getFirst().nodes()) {
      assertTrue(has(node, "print('second')\n"));
    }
  }
}
