package dev.gpush.shell.loop;

import static dev.gpush.shell.loop.ShellScene.session;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.text.Worded;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.ViewChange;
import dev.gpush.shell.loop.GoldenFile.Window;
import dev.gpush.shell.top.TopFixture;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a user sees of the main scenes of a shell, in a wide, a narrow and a plain window. */
final class GoldenScreensTest {
  private static final String CURSOR = "▮";
  private static final String RIGHT = "\u001bOC";
  private static final String END = "\u001bOF";

  @TempDir Path home;

  private ShellScene scene(String name, Window window) throws Exception {
    var scene = new ShellScene(name, window, home, Optional.of(session()));
    scene.awaitHeard("status\tdevbox");
    return scene;
  }

  @ParameterizedTest
  @EnumSource
  void firstPrompt(Window window) throws Exception {
    try (var none = new ShellScene("first-prompt-alone", window, home, Optional.empty())) {
      none.sees("without a session", "> " + CURSOR);
      none.ends();
    }
    try (ShellScene scene = scene("first-prompt", window)) {
      scene.sees("a session", scene.line("> "));
      scene.ends();
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void completionMenu(Window window) throws Exception {
    try (ShellScene scene = scene("completion", window)) {
      scene.desk.runs.all.add(run(scene, "running", Optional.empty()));
      scene.desk.runs.add(6, "failed", Optional.of(1), "eval.py", "実験 1", "\u001b[2Jnasty");
      scene.type("l\t");
      scene.sees("commands", "logs", "login");
      scene.type("\u0003");
      scene.sees("a cleared line", scene.line("> "));
      scene.type("logs \t");
      scene.sees("runs", "failed", "running");
      scene.type("\u0003run --n\t");
      scene.sees("options", "--nproc", "--nodes");
      scene.ends();
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void wordsThatCannotBeRight(Window window) throws Exception {
    try (ShellScene scene = scene("marks", window)) {
      scene.awaitHeard("verb\t*");
      scene.type("lgos -f");
      scene.sees("a command", scene.line("os -f"));
      scene.type("\u0003logs --folow --rank -s devboxx -q");
      scene.sees("options and a session", scene.line("devboxx -q"));
      scene.type("\u0003@7 ls");
      scene.sees("a node", scene.line(" ls"));
      scene.ends();
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void whatWasTypedBeforeIsSuggested(Window window) throws Exception {
    try (ShellScene scene = scene("suggestion", window)) {
      scene.type("runs -q\r");
      scene.sees("a command", scene.line("> "));
      scene.type("r");
      scene.sees("its begin", window.isPlain() ? "r▮" : "▮u");
      scene.type(RIGHT);
      scene.sees("after the arrow", window.isPlain() ? "r▮" : scene.line("-q"));
      scene.type("\u0015runs");
      scene.sees("another begin", window.isPlain() ? "runs▮" : "ns▮");
      scene.type(END);
      scene.sees("after End", window.isPlain() ? "runs▮" : scene.line("-q"));
      scene.type("\u0003");
      scene.sees("a cleared line", scene.line("> "));
      scene.ends();
    }
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void anEventWhileTyping(Window window) throws Exception {
    try (ShellScene scene = scene("event", window)) {
      scene.type("run 実験");
      scene.sees("a line", scene.line("実験"));
      scene.becomes(session(), run(scene, "running", Optional.empty()));
      scene.awaitHeard("run 7");
      scene.sees("a run", scene.line("実験"));
      scene.becomes(
          new ViewChange(session()).hardEnd(Optional.of(Duration.ofMinutes(15))).view(),
          run(scene, "failed", Optional.of(failure())));
      scene.awaitHeard("event\tlease");
      scene.sees("its end, and a lease", scene.line("実験"));
      scene.type("\u0003pwd\r");
      scene.sees("after the line", "/home/ann/proj", scene.line("> "));
      scene.ends();
    }
  }

  private static RunView run(ShellScene scene, String state, Optional<RunFailure> failure) {
    Instant now = scene.desk.clock.now();
    return new RunView(
        7,
        "devbox",
        RunKind.PROGRAM,
        new RunView.Progress(
            Worded.of(RunView.State.class, state).orElseThrow(),
            failure.map(_ -> 1),
            now.minus(Duration.ofMinutes(130)),
            failure.map(_ -> now),
            failure,
            Optional.empty(),
            Trace.none()),
        new RunView.Launched(
            List.of("train.py", "--lr", "3e-4"),
            16,
            IntStream.range(0, 16).mapToObj(at -> at / 4 + ":" + at % 4).toList(),
            42,
            "torchrun",
            "/usr/bin/python3",
            false),
        "run 7 · 16 ranks · ~/envs/llm python 3.11 torch 2.8 · ~/proj · G42 · IB");
  }

  private static RunFailure failure() {
    return new RunFailure(
        2,
        new RunFailure.Where(1, "gpu01", true, Optional.of("2")),
        Optional.of(1),
        Optional.empty(),
        Json.object(
            "code",
            "exception",
            "type",
            "ModuleNotFoundError",
            "message",
            "No module named 'boto3'",
            "frame",
            Json.object("file", "trainer.py", "line", 16)),
        List.of(0, 1, 3),
        List.of());
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void aQueueWithAMovingPlace(Window window) throws Exception {
    try (ShellScene scene = new ShellScene("queue", window, home, Optional.of(queued("4 of 19")))) {
      scene.awaitHeard("4 of 19");
      scene.sees("the fourth", "4 of 19", scene.line("> "));
      scene.type("ps");
      scene.becomes(queued("2 of 17"));
      scene.awaitHeard("event\tqueue");
      scene.sees("the second", scene.line("ps"), window.isPlain() ? "" : "is queued: 2 of");
      scene.ends();
    }
    try (ShellScene scene = new ShellScene("queue-up", window, home, Optional.empty())) {
      var step = new ArrayList<Talk.Step>();
      var ticks = new ArrayList<Runnable>();
      var isWaiting = new CountDownLatch(1);
      var isOver = new CountDownLatch(1);
      scene.desk.ticker =
          tick -> {
            ticks.add(tick);
            return () -> {};
          };
      scene.desk.sessions.waiting =
          talk -> {
            try (Talk.Step begun = talk.step("reserving 2×8 H100 on hpc")) {
              step.add(begun);
              isWaiting.countDown();
              isOver.await();
            } catch (InterruptedException stop) {
              Thread.currentThread().interrupt();
            }
          };
      scene.type("up --nodes 2 --gpus H100:8\r");
      isWaiting.await();
      step.getFirst().detail("4 of 19" + Desk.WAITS);
      scene.desk.clock.advance(Duration.ofSeconds(130));
      ticks.getFirst().run();
      scene.sees("the fourth", "reserving");
      step.getFirst().detail("2 of 17" + Desk.WAITS);
      scene.desk.clock.advance(Duration.ofMinutes(5));
      ticks.getFirst().run();
      scene.sees("the second", window.isPlain() ? "4 of 19" : "2 of 17");
      scene.watchSees(made());
      scene.awaitHeard("prompt\tdevbox");
      isOver.countDown();
      scene.sees("its end", "next:", scene.line("> "));
      scene.ends();
    }
  }

  /** As the fakes make it. */
  private static SessionView made() {
    SessionView older =
        new Desk().sessions.add("devbox", Desk.PROJECT, 2, new GpuRequest(Optional.of("H100"), 8));
    return new ViewChange(older).idle(Duration.ofHours(1)).view();
  }

  private static SessionView queued(String place) {
    return new ViewChange(session()).queued(place + Desk.WAITS).view();
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void aRunWithFolding(Window window) throws Exception {
    try (ShellScene scene = scene("run", window)) {
      var ticks = new ArrayList<Runnable>();
      var isBar = new CountDownLatch(1);
      var isOver = new CountDownLatch(1);
      scene.desk.ticker =
          tick -> {
            ticks.add(tick);
            return () -> {};
          };
      scene.desk.runs.output =
          output -> {
            say(output, 0, 2, "loading the model of 7.1 billion parameters into 2 × 80 GB");
            say(output, 0, 1, "GPU 0 is \u001b[32mfine\u001b[0m");
            say(output, 1, 2, "GPU 3 is \u001b[31mhot\u001b[0m\u001b[2J\u001b]0;title\u0007");
            say(output, 0, 2, "エポック 1: loss 2.31 👍");
            for (int rank = 0; rank < 2; rank++) {
              output.rewriting(rank, rank, true, utf8(" 40%|████      | 400/1000 [00:40<01:00]"));
            }
            isBar.countDown();
            await(isOver);
            for (int rank = 0; rank < 2; rank++) {
              output.line(rank, rank, true, utf8("100%|██████████| 1000/1000 [01:40<00:00]"));
            }
          };
      scene.type("run train.py\r");
      isBar.await();
      scene.desk.clock.advance(Duration.ofSeconds(1));
      ticks.forEach(Runnable::run);
      scene.sees("a bar", "loss 2.31", window.isPlain() ? "" : "400/1000");
      isOver.countDown();
      scene.sees("its end", "1000/1000", scene.line("> "));
      scene.ends();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private static void say(RunOutput output, int first, int after, String text) {
    for (int rank = first; rank < after; rank++) {
      output.line(rank, rank, false, utf8(text));
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"TINY", "HUGE"})
  void aFailureWithItsVerdict(Window window) throws Exception {
    try (ShellScene scene = scene("failure", window)) {
      scene.desk.runs.verdict = Optional.of(failure());
      scene.desk.runs.exit = Optional.of(1);
      scene.desk.runs.output =
          output -> {
            say(output, 0, 2, "loading");
            for (String line :
                List.of(
                    "Traceback (most recent call last):",
                    "  File \"/home/ann/gpush/devbox/proj/trainer.py\", line 16, in <module>",
                    "    import boto3",
                    "ModuleNotFoundError: No module named 'boto3'")) {
              output.line(0, 0, true, utf8(line));
              output.line(1, 1, true, utf8(line));
            }
          };
      scene.type("run train.py\r");
      scene.sees("the verdict", "GPU 2) failed", scene.line("> "));
      scene.ends();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TINY")
  void topOnFourNodes(Window window) throws Exception {
    try (ShellScene scene = scene("top", window)) {
      scene.desk.runs.all.add(run(scene, "running", Optional.empty()));
      scene.desk.runs.readings.add(nodes());
      scene.type("top\r");
      scene.sees("all", window.isPlain() ? "gpu03" : "q quit");
      if (!window.isPlain()) {
        scene.runner.keys.add("1");
        scene.sees("a node", "q quit", "esc back");
        scene.runner.keys.add("q");
        scene.sees("left", scene.line("> "));
      }
      scene.ends();
    }
  }

  /** Of four GPUs each: one is slow, one hot, and a node is silent. */
  private static List<NodeReading> nodes() {
    var nodes = new ArrayList<NodeReading>();
    for (int node = 0; node < 4; node++) {
      var gpus = new ArrayList<Json>();
      var ranks = new ArrayList<Json>();
      for (int gpu = 0; gpu < 4; gpu++) {
        boolean isSlow = node == 1 && gpu == 2;
        List<String> throttled =
            node == 0 && gpu == 1 ? List.of("hw-thermal") : List.of(isSlow ? "idle" : "power-cap");
        gpus.add(TopFixture.gpu("" + gpu, isSlow ? 12 : 98, 70 + gpu, 600 + gpu, throttled));
        ranks.add(TopFixture.rank(4 * node + gpu, isSlow ? "S" : "R", isSlow ? 3.0 : 99.5));
      }
      boolean isSilent = node == 3;
      Json steps =
          node == 0 ? TopFixture.progress(1200, 0.3, 11.9, 12.9, new Json.Null()) : new Json.Null();
      nodes.add(
          TopFixture.reading(
              node,
              Optional.of(TopFixture.node(gpus, ranks, steps)),
              Duration.ofSeconds(isSilent ? 40 : 0),
              isSilent ? "cut" : "up",
              ""));
    }
    return nodes;
  }
}
