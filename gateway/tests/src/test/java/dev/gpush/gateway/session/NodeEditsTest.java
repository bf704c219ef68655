package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What is changed on node 0 comes home by itself, though nobody is connected there; with real
 * agents, which notice it.
 */
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class NodeEditsTest {
  private static final Duration BETWEEN_LINES = Duration.ofMillis(1);

  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;
  private Path node0;
  private Path node1;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.live();
    gateway = rig.gateway();
    project = rig.project("project");
    Files.writeString(project.resolve("gone.py"), "gone");
    SessionView made = gateway.up(ask(project, 2), Talk.silent());
    gateway.sync(DEVBOX, false, Talk.silent());
    node0 = Path.of(made.nodes().get(0).info().workspace());
    node1 = Path.of(made.nodes().get(1).info().workspace());
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private SyncView state() {
    return gateway.syncState(DEVBOX);
  }

  private static boolean has(Path folder, String file, String text) {
    try {
      return Files.readString(folder.resolve(file)).equals(text);
    } catch (IOException notYet) {
      return false;
    }
  }

  private void await(Path folder, String file, String text) {
    until(() -> text + " is in " + folder + ": " + state(), () -> has(folder, file, text));
  }

  private void awaitSynced() {
    until(() -> "it is synced: " + state(), () -> state().isSynced());
  }

  @Test
  void whatIsEditedMadeAndDeletedThereIsHereAndOnTheOtherNode() throws Exception {
    Files.writeString(node0.resolve("train.py"), "edited");
    await(project, "train.py", "edited");
    await(node1, "train.py", "edited");

    Files.createDirectories(node0.resolve("pkg/deep"));
    Files.writeString(node0.resolve("pkg/deep/new.py"), "new");
    Files.delete(node0.resolve("gone.py"));
    await(project, "pkg/deep/new.py", "new");
    await(node1, "pkg/deep/new.py", "new");
    until("it is deleted here", () -> !Files.exists(project.resolve("gone.py")));
    until("and there", () -> !Files.exists(node1.resolve("gone.py")));

    // The folder is watched, too, now that it is one of gpush.
    Files.writeString(node0.resolve("pkg/deep/new.py"), "newer");
    await(node1, "pkg/deep/new.py", "newer");
    awaitSynced();
  }

  @Test
  void whatCannotBeWrittenHereStopsNeitherTheRestNorASave() throws Exception {
    // No name is left for the file that it is received in.
    String longest = "x".repeat(252) + ".py";
    Files.writeString(project.resolve(longest), "1");
    await(node1, longest, "1");

    Files.writeString(node0.resolve(longest), "2");
    until(() -> "it is held: " + state(), () -> isHeldAlone(longest));
    Files.writeString(node0.resolve("gone.py"), "edited");
    Files.writeString(project.resolve("train.py"), "saved");

    await(project, "gone.py", "edited");
    await(node1, "gone.py", "edited");
    await(node1, "train.py", "saved");
    assertTrue(has(project, longest, "1"));
  }

  @Test
  void aFolderThatIsRemovedOrRenamedThereIsFilledAndDeletesNothingHere() throws Exception {
    awaitSynced();
    String text = Files.readString(project.resolve("train.py"));
    Files.move(node0, node0.resolveSibling("elsewhere"));
    await(node0, "train.py", text);
    await(node0, "gone.py", "gone");
    awaitSynced();

    Path gone = Files.move(node0, node0.resolveSibling("gone")); // At once, as the watch is on.
    try (var all = Files.walk(gone)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
    await(node0, "train.py", text);
    awaitSynced();
    assertTrue(has(project, "gone.py", "gone"));

    Files.writeString(node0.resolve("train.py"), "edited");
    await(project, "train.py", "edited");
  }

  @Test
  void syncedIsNotSaidWhileSomethingIsOnItsWayHere() throws Exception {
    awaitSynced();
    // Not complete for as long as it changes.
    Path growing = node0.resolve("notes.txt");
    var isSeen = new AtomicBoolean();
    Task<Integer, IOException> writer =
        rig.tasks()
            .forkOnThread(
                "writer",
                () -> {
                  int lines = 0;
                  while (!isSeen.get()) {
                    Files.writeString(growing, "line " + lines++);
                    LockSupport.parkNanos(BETWEEN_LINES.toNanos());
                  }
                  return lines;
                });
    until("it is noticed", () -> !state().isSynced());
    assertFalse(Files.exists(project.resolve("notes.txt")));

    isSeen.set(true);
    writer.get();
    String last = Files.readString(growing);
    await(node1, "notes.txt", last);
    awaitSynced();
    assertEquals(last, Files.readString(project.resolve("notes.txt")));
  }

  @Test
  void duringARunEditsComeHomeAndGoToTheOtherNodesAtItsEnd() throws Exception {
    RunView run = gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());

    Files.writeString(node0.resolve("train.py"), "edited during the run");
    await(project, "train.py", "edited during the run");
    Files.writeString(node0.resolve("train.py"), "edited again");
    await(project, "train.py", "edited again");
    Files.writeString(node0.resolve("new.py"), "made during the run");
    Files.writeString(node0.resolve("metrics.txt"), "made by a rank, perhaps");
    await(project, "new.py", "made during the run");

    until(
        () -> "held: " + state(),
        () -> state().held().stream().anyMatch(held -> held.why().contains("run 1 on G")));
    assertFalse(has(node1, "train.py", "edited again"));
    assertFalse(Files.exists(node1.resolve("new.py")));

    gateway.runs().stop(DEVBOX, run.number(), "KILL", Duration.ofSeconds(1), Talk.silent());

    await(node1, "train.py", "edited again");
    await(node1, "new.py", "made during the run");
    awaitSynced();
    assertFalse(Files.exists(project.resolve("metrics.txt")));
  }

  /** The direction is that of the gateway's state, also while a run holds saves. */
  @Test
  void eachWayIsSeenAndWhatIsHeldIsOnNone() throws Exception {
    awaitSynced();
    // Not complete for as long as it changes.
    Path growing = node0.resolve("notes.txt");
    SyncView coming = state();
    for (int i = 0; coming.incoming() == SyncView.Incoming.NONE; i++) {
      Files.writeString(growing, "line " + i);
      coming = state();
    }
    assertEquals(SyncView.Incoming.COMING, coming.incoming());
    assertFalse(coming.isSynced());
    awaitSynced();

    RunView run = gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());
    Files.writeString(node0.resolve("train.py"), "edited during the run");
    until(
        () -> "it is here, and waits for the run: " + state(),
        () -> isGoingOut("train.py", SyncView.Incoming.NONE));
    assertTrue(has(project, "train.py", "edited during the run"));

    Files.writeString(project.resolve("gone.py"), "edited here");
    until("it waits, too", () -> state().pending().contains("gone.py"));
    Files.writeString(node0.resolve("gone.py"), "edited there");
    until(
        () -> "what nobody can decide yet waits there: " + state(),
        () -> isGoingOut("gone.py", SyncView.Incoming.WAITING));

    gateway.runs().stop(DEVBOX, run.number(), "KILL", Duration.ofSeconds(1), Talk.silent());

    until(() -> "only that is held: " + state(), () -> isHeldAlone("gone.py"));
    assertTrue(has(node1, "train.py", "edited during the run"));
    assertFalse(state().isSynced());
  }

  private boolean isGoingOut(String path, SyncView.Incoming incoming) {
    SyncView now = state();
    return now.pending().contains(path)
        && now.incoming() == incoming
        && now.waitsFor().orElse("").startsWith("run 1 on G");
  }

  private boolean isHeldAlone(String path) {
    SyncView now = state();
    return now.pending().isEmpty()
        && now.incoming() == SyncView.Incoming.NONE
        && now.versions().held().stream().map(HeldPath::path).toList().equals(List.of(path));
  }

  @Test
  void whatChangedThereWhileNoGatewayRanComesHome() throws Exception {
    awaitSynced();
    gateway.close();
    Files.writeString(node0.resolve("train.py"), "edited meanwhile");

    gateway = rig.gateway();
    gateway.recover();

    await(project, "train.py", "edited meanwhile");
    await(node1, "train.py", "edited meanwhile");
    assertEquals(SyncView.Mode.LIVE, state().mode());
  }

  /** The key is read when a session is linked, and its node has what node 0 has without it. */
  @Test
  void peopleEditOnTheNodeThatTheProjectNames() throws Exception {
    Files.writeString(project.resolve("gpush.yaml"), "sync: {edit: 1}\n");
    var talk = FakeTalk.answering(true);
    gateway.sync(DEVBOX, false, talk);
    assertEquals(
        List.of(
            "people still edit on node 0 of devbox, and on node 1, as sync.edit says, when the"
                + " gateway is started again (gpush gateway stop)"),
        talk.lines().stream().filter(line -> line.contains("edit")).toList());
    assertEquals(0, gateway.editNode(DEVBOX));

    initGit(project);
    gateway.close();
    gateway = rig.gateway();
    gateway.recover();
    assertEquals(1, gateway.editNode(DEVBOX));

    Files.writeString(node1.resolve("train.py"), "edited");
    await(project, "train.py", "edited");
    await(node0, "train.py", "edited");
    awaitSynced();
    assertEquals(1, state().editNode());
    until(
        () -> "node 1 has the repository: " + state().history(),
        () -> state().history().startsWith("node 1 is on main"));
    assertTrue(Files.exists(node1.resolve(".git")));
    assertFalse(Files.exists(node0.resolve(".git")));

    Files.writeString(node0.resolve("gone.py"), "edited on node 0");
    var held = assertThrows(GpushException.class, () -> gateway.sync(DEVBOX, false, Talk.silent()));
    assertEquals(
        List.of("gone.py OTHER_NODE 0"),
        assertInstanceOf(SyncFailure.Held.class, held.failure()).paths().stream()
            .map(each -> each.path() + " " + each.reason() + " " + each.node())
            .toList());
  }

  private static void initGit(Path folder) throws Exception {
    String script =
        "git init -q -b main && git add train.py"
            + " && git -c user.name=A -c user.email=a@example.org commit -q -m first";
    var git = new ProcessBuilder("sh", "-c", script).directory(folder.toFile()).inheritIO();
    git.environment().put("GIT_CONFIG_GLOBAL", "/dev/null");
    assertEquals(0, git.start().waitFor());
  }

  /** A terminal that waits for a change sees it, and looks no more often than something changes. */
  @Test
  void aTerminalIsToldWhatCameHomeAndWhichRunEnded() throws Exception {
    awaitSynced();
    Runs.Pictures pictures = gateway.runs().pictures();

    Files.writeString(node0.resolve("notes.txt"), "mine");
    Runs.Picture came = awaitPicture(pictures, now -> now.came().count() > 0);
    assertEquals(List.of("notes.txt"), came.came().last());
    assertEquals(Map.of(DEVBOX.text(), 2), came.sizes());
    awaitPicture(pictures, now -> now.session().get().sync().isSynced());

    gateway.pauseSync(DEVBOX);
    Files.writeString(node0.resolve("notes.txt"), "of a command");
    gateway.sync(DEVBOX, false, FakeTalk.answering(true));
    Files.writeString(node0.resolve("notes.txt"), "of a watched run");
    gateway.sync(DEVBOX, false, Talk.silent());
    gateway.resumeSync(DEVBOX);
    Sessions.Came pushed = pictures.of(Optional.empty(), project).came();
    assertEquals(List.of(came.came().count() + 2, 1L), List.of(pushed.count(), pushed.said()));

    RunView run =
        gateway
            .runs()
            .launch(
                DEVBOX,
                Asked.run(project, "bash", "-c", "mkfifo go && read x < go"),
                Talk.silent());
    awaitPicture(pictures, now -> now.runs().stream().anyMatch(each -> !each.isOver()));
    gateway.runs().stop(DEVBOX, run.number(), "TERM", Duration.ZERO, Talk.silent());
    awaitPicture(pictures, now -> now.runs().stream().allMatch(RunView::isOver));

    gateway.down(DEVBOX, true, Talk.silent());
    Runs.Picture none = awaitPicture(pictures, now -> now.session().isEmpty());
    assertEquals(List.of(new Sessions.Ended(came.session().get().id(), "")), none.ended());
    assertEquals(Map.of(), none.sizes());
  }

  private Runs.Picture awaitPicture(Runs.Pictures pictures, Predicate<Runs.Picture> isIt)
      throws InterruptedException {
    while (true) {
      long seen = pictures.changes().count();
      Runs.Picture now = pictures.of(Optional.empty(), project);
      if (isIt.test(now)) {
        return now;
      }
      pictures.changes().await(seen, Duration.ZERO, Duration.ofDays(1));
    }
  }
}
