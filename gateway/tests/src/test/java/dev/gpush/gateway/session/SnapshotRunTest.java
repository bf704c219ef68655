package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Runs with files of their own, on two real agents. */
@Tag("local")
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(OS.LINUX)
final class SnapshotRunTest {
  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;
  private Path go;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.live();
    gateway = rig.gateway();
    project = rig.project("project");
    go = rig.path("go");
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private List<Path> up() throws InterruptedException {
    SessionView made = gateway.up(ask(project, 2), Talk.silent());
    gateway.sync(DEVBOX, false, Talk.silent());
    return made.nodes().stream().map(node -> Path.of(node.info().workspace())).toList();
  }

  private void save(String text) throws IOException {
    Files.writeString(project.resolve("train.py"), text);
  }

  /** What the shell does once the file go is there. */
  private RunRequest afterGo(String then) {
    return Asked.run(
        project, "sh", "-c", "while [ ! -e '" + go + "' ]; do sleep 0.02; done; " + then);
  }

  private RunView launch(RunRequest asked) throws InterruptedException {
    return gateway.runs().launch(DEVBOX, asked, Talk.silent());
  }

  private static void awaitIn(Path file, String text) {
    until(
        () -> file + " has " + text,
        () -> {
          try {
            return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                && Files.readString(file).equals(text);
          } catch (IOException replaced) {
            return false;
          }
        });
  }

  @Test
  void holdsNoSaveAndRunsTheFilesOfItsStart() throws Exception {
    Files.writeString(project.resolve("gpush.yaml"), "sync: {while-running: isolate}\n");
    List<Path> nodes = up();
    RunView run = launch(afterGo("cat train.py >ran; mkdir out; pwd >out/place"));

    save("print('edited')\n");
    for (Path node : nodes) {
      awaitIn(node.resolve("train.py"), "print('edited')\n");
    }
    until("it is synced", () -> gateway.syncState(DEVBOX).isSynced());
    Files.createFile(go);

    assertTrue(run.header().contains(" · from a snapshot"), run::header);
    for (Path node : nodes) {
      awaitIn(node.resolve("ran"), "print('hello')\n");
      String place = node + ".gpush/snapshots/1/" + node.getFileName();
      awaitIn(node.resolve("out/place"), place + "\n");
      until("the snapshot is gone", () -> Files.notExists(Path.of(place)));
    }
  }

  @Test
  void filesOfBeforeAreRunWhileTheLiveOnesStay() throws Exception {
    List<Path> nodes = up();
    RunView first = launch(Asked.run(project, "sh", "-c", "cat train.py >>ran"));
    until("it is over", () -> gateway.runs().list(DEVBOX).getFirst().isOver());
    save("print('edited')\n");
    for (Path node : nodes) {
      awaitIn(node.resolve("train.py"), "print('edited')\n");
    }

    RunView again = launch(Asked.run(project).at(Optional.of(first.generation())));

    until("it is over", () -> gateway.runs().list(DEVBOX).getFirst().isOver());
    assertEquals(first.generation(), again.generation());
    for (Path node : nodes) {
      awaitIn(node.resolve("ran"), "print('hello')\nprint('hello')\n");
      awaitIn(node.resolve("train.py"), "print('edited')\n");
    }
    assertEquals(
        new LaunchFailure.NoSnapshot(0, first.generation() + 7, ""),
        assertThrows(
                GpushException.class,
                () -> launch(Asked.run(project, "true").at(Optional.of(first.generation() + 7))))
            .failure());
  }

  @Test
  void onlyWhereThatWasAskedFor() throws Exception {
    List<Path> nodes = up();
    launch(afterGo("cat train.py >ran").fromSnapshot(true));
    save("print('edited')\n");
    awaitIn(nodes.getLast().resolve("train.py"), "print('edited')\n");
    Files.createFile(go);
    awaitIn(nodes.getLast().resolve("ran"), "print('hello')\n");
    until("it is over", () -> gateway.runs().list(DEVBOX).getFirst().isOver());

    RunView next = launch(Asked.run(project, "sh", "-c", "cat train.py >ran"));
    assertEquals(
        List.of(), next.header().lines().filter(line -> line.contains("snapshot")).toList());
    awaitIn(nodes.getLast().resolve("ran"), "print('edited')\n");
  }
}
