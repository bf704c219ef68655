package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.SaveListener;
import dev.gpush.core.run.SavedFiles;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What counts as a save, and what happens to the run; with real agents. */
@Execution(ExecutionMode.CONCURRENT)
final class SaveWatchTest {
  private final List<Failure> failures = new ArrayList<>();
  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;
  private int pushes;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.calm();
    gateway = rig.gateway();
    project = rig.project("project");
    Files.writeString(project.resolve(".gpushignore"), "*.log\n");
    gateway.up(ask(project, 2), Talk.silent());
    gateway.sync(DEVBOX, false, Talk.silent());
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private void write(String file, String text) {
    try {
      Files.writeString(project.resolve(file), text);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /** In place of time that passes, the next of these happens. */
  private final class Moments implements SaveWatch.Steps {
    private final Deque<Runnable> moments = new ArrayDeque<>();
    private final Deque<Failure> refusals = new ArrayDeque<>();

    @Override
    public void requireSession() {}

    @Override
    public void push() throws InterruptedException {
      pushes++;
      if (!refusals.isEmpty()) {
        throw new GpushException(refusals.removeFirst());
      }
      gateway.sync(DEVBOX, false, Talk.silent());
    }

    @Override
    public void pause(Duration time) {
      if (!moments.isEmpty()) {
        moments.removeFirst().run();
      }
    }
  }

  private SavedFiles await(Moments moments, long generation) throws InterruptedException {
    return new SaveWatch(gateway.find(DEVBOX), moments, Clock.system())
        .await(generation, failures::add);
  }

  @Test
  void severalSavesWithinAMomentAreOne() throws Exception {
    var moments = new Moments();
    moments.moments.add(() -> write("train.py", "print('half')\n"));
    moments.moments.add(() -> write("model.py", "x = 1\n"));
    moments.moments.add(() -> write("train.py", "print('whole')\n"));

    assertEquals(new SavedFiles(2, List.of("model.py", "train.py")), await(moments, 1));
    assertEquals(1, pushes);
  }

  @Test
  @Tag("local")
  void aFileThatTheSyncIgnoresIsNoSave() throws Exception {
    var moments = new Moments();
    moments.moments.add(() -> write("step.log", "1\n"));
    moments.moments.add(() -> write("step.log", "2\n"));
    moments.moments.add(() -> write("train.py", "print('hello')\n")); // the same content
    moments.moments.add(() -> write("train.py", "print('bye')\n"));

    assertEquals(new SavedFiles(2, List.of("train.py")), await(moments, 1));
    assertEquals(1, pushes);
  }

  @Test
  void aSaveThatIsTakenBackIsNone() throws Exception {
    var moments = new Moments();
    moments.moments.add(() -> write("train.py", "print('typo')\n"));
    moments.moments.add(() -> write("train.py", "print('hello')\n"));
    moments.moments.add(() -> {});
    moments.moments.add(() -> write("other.py", "x = 1\n"));

    assertEquals(new SavedFiles(2, List.of("other.py")), await(moments, 1));
  }

  @Test
  @Tag("local")
  void aFailureIsToldOnceAndTheSaveIsTriedAgain() throws Exception {
    var moments = new Moments();
    moments.moments.add(() -> write("train.py", "print('new')\n"));
    Failure away = new SessionFailure.NotReached("devbox", 1, "the link is cut");
    moments.refusals.addAll(List.of(away, away));

    assertEquals(new SavedFiles(2, List.of("train.py")), await(moments, 1));
    assertEquals(List.of(away), failures);
    assertEquals(3, pushes);
  }

  @Test
  @Tag("local")
  void filesOfAnotherCommandCountAndAreNotNamed() throws Exception {
    write("train.py", "print('new')\n");
    gateway.sync(DEVBOX, false, Talk.silent());

    assertEquals(new SavedFiles(2, List.of()), await(new Moments(), 1));
    assertEquals(0, pushes);
  }

  @Test
  void aSaveEndsTheRunAndTheNextOneHasIt() throws Exception {
    write("train.sh", "trap '' INT; echo old; sleep 1000\n");
    RunRequest request = Asked.run(project, "sh train.sh");
    RunView run =
        gateway
            .runs()
            .launch(
                new RunTarget(Optional.of(DEVBOX), Optional.empty(), List.of(), Optional.empty()),
                request,
                _ -> {},
                Talk.silent());
    var told = new CompletableFuture<SavedFiles>();
    var listener =
        new SaveListener() {
          @Override
          public void saved(SavedFiles files) {
            told.complete(files);
          }

          @Override
          public void failed(Failure failure) {
            told.completeExceptionally(new GpushException(failure));
          }
        };
    Task<SavedFiles, RuntimeException> save =
        rig.tasks()
            .fork(
                "save",
                () ->
                    gateway
                        .runs()
                        .awaitSave(DEVBOX, run.number(), request, run.generation(), listener));

    write("train.sh", "echo new\n");

    SavedFiles saved = save.get();
    assertEquals(List.of("train.sh"), saved.paths());
    assertEquals(saved, told.get());
    assertEquals(
        RunView.State.STOPPED, gateway.runs().find(DEVBOX, Optional.of(run.number())).state());
    RunView next = gateway.runs().launch(DEVBOX, request, Talk.silent());
    assertEquals(run.number() + 1, next.number());
    assertEquals(saved.generation(), next.generation());
    var lines = new ArrayList<String>();
    var output =
        new RunOutput() {
          @Override
          public void line(int node, int rank, boolean error, byte[] text) {
            lines.add(new String(text, StandardCharsets.UTF_8));
          }

          @Override
          public boolean isForPeople() {
            return false;
          }

          @Override
          public void restarting(int node, RunFailure failure, int restart, int most) {}

          @Override
          public void event(int node, String text) {}
        };
    var asked = new LogRequest(Set.of(), true, Optional.empty());
    assertEquals(Optional.of(0), gateway.runs().follow(DEVBOX, next.number(), asked, output));
    assertEquals(List.of("new", "new"), lines);
  }

  @Test
  void theEndOfTheSessionEndsTheWait() throws Exception {
    var listener =
        new SaveListener() {
          @Override
          public void saved(SavedFiles files) {}

          @Override
          public void failed(Failure failure) {}
        };
    Task<SavedFiles, RuntimeException> save =
        rig.tasks()
            .fork(
                "save",
                () -> gateway.runs().awaitSave(DEVBOX, 1, Asked.run(project, "true"), 1, listener));

    gateway.down(DEVBOX, false, Talk.silent());

    var ended = assertThrows(GpushException.class, save::get);
    assertInstanceOf(SessionFailure.Gone.class, ended.failure());
  }
}
