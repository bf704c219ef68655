package dev.gpush.launch.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Trace;
import dev.gpush.launch.FakeNode;
import dev.gpush.launch.journal.NodeEnd;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.PythonChoice;
import dev.gpush.launch.node.PythonFacts;
import dev.gpush.launch.run.RunHistory;
import dev.gpush.launch.run.RunRecord;
import dev.gpush.launch.words.LauncherCommand;
import dev.gpush.launch.words.RunWords;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Specs, records and the end of a run, as data. */
final class LaunchPlanTest {
  private static final PythonFacts PYTHON =
      new PythonFacts(
          new PythonFacts.Interpreter("/e/bin/python", "3.11.2", "/e", true),
          Optional.of("2.8.0"),
          Optional.of("12.8"),
          Optional.of("2.27.3"),
          List.of(),
          Map.of(),
          new PythonFacts.Account("/home/me", "me", "/usr/bin"));

  private static LaunchPlan plan(
      RunWords words, LaunchPlan.Mode mode, List<String> outputs, boolean here) {
    return plan(words, mode, outputs, here, new RunRequest.Ranks(Optional.empty(), 0));
  }

  private static LaunchPlan plan(
      RunWords words,
      LaunchPlan.Mode mode,
      List<String> outputs,
      boolean here,
      RunRequest.Ranks ranks) {
    var infos =
        List.of(
            new NodeInfo(0, "a", "10.0.0.1", List.of("0", "1", "2"), "H100", 12, "/a/ws"),
            new NodeInfo(1, "b", "10.0.0.2", List.of("4", "5"), "H100", 8, "/b/ws"));
    var site =
        new LaunchSite(
            new SessionName("devbox"),
            "abcdef99",
            Path.of("/w"),
            here,
            infos.stream().map(info -> new LaunchNode(() -> info, new FakeNode())).toList(),
            Path.of("/h"),
            Optional.empty());
    var slots =
        new SlotPlan(
            List.of(new SlotPlan.Claim(0, List.of("1", "2")), new SlotPlan.Claim(1, List.of("4"))));
    return new LaunchPlan(
        site,
        infos,
        slots,
        new LaunchPlan.Payload(
            words,
            mode,
            "exp",
            Map.of("MINE", "x", "PATH", "/z"),
            words.variables(),
            ranks,
            new RunEnding(
                Optional.of(new RunWarning("USR1", Duration.ofMinutes(10))),
                Duration.ofSeconds(30)),
            RunRequest.NcclLog.UNCHANGED),
        new LaunchPlan.Findings(List.of(PYTHON, PYTHON), List.of(), outputs, Optional.empty(), ""));
  }

  /** Where nodes look for the environment themselves, its variables are theirs to set. */
  @Test
  void anEnvironmentIsActivatedThereUnlessTheWordsChooseThePrograms() {
    var choice = new PythonChoice(List.of("/w/.venv", "@venv", "python3"));
    for (boolean chooses : List.of(false, true)) {
      LaunchPlan known =
          plan(
              words(chooses ? "PATH=/mine pytest" : "A=1 pytest"),
              LaunchPlan.Mode.COMMAND,
              List.of(),
              false);
      var plan =
          new LaunchPlan(
              known.site(),
              known.nodes(),
              known.slots(),
              known.payload(),
              new LaunchPlan.Findings(
                  List.of(), List.of(choice, choice), List.of(), Optional.empty(), ""));

      Json.Obj spec = plan.specs(7, 1234, 0, Json.object()).getLast();

      assertEquals(chooses ? List.of() : choice.candidates(), spec.texts("activate"));
      assertEquals(Optional.of(chooses ? "/mine" : "/z"), spec.object("env").text("PATH"));
      assertEquals(Optional.empty(), spec.object("env").text("VIRTUAL_ENV"));
    }
  }

  private static RunWords words(String line) {
    return RunWords.parse(List.of(line.split(" ")));
  }

  @Test
  void specSaysWhatEachNodeStarts() {
    List<Json.Obj> specs =
        plan(words("A=1 train.py --lr 1"), LaunchPlan.Mode.RANKS, List.of(), false)
            .specs(7, 1234, 0, Json.object("run", 7));

    assertEquals(
        Json.parse(
                """
                {"mode": "ranks", "python": "/e/bin/python", "program": ["train.py", "--lr", "1"], "torchrun": [],
                 "cwd": "/b/ws/exp",
                 "env": {"A": "1", "MINE": "x", "PATH": "/e/bin:/usr/bin", "VIRTUAL_ENV": "/e", "GPUSH_SESSION": "devbox",
                         "GPUSH_WORKSPACE": "/b/ws", "GPUSH_NODE_ADDRS": "10.0.0.1,10.0.0.2"},
                 "defaults": {},
                 "nodes": 2, "node_rank": 1, "procs": 1, "first_rank": 2, "world": 3,
                 "master": {"addr": "10.0.0.1", "port": 1234}, "slots": ["4"], "visible": "4",
                 "outputs": "/b/ws.gpush/outputs/run-7", "own": ["A"], "stop_grace_s": 30,
                 "warn": {"signal": "USR1", "before_s": 600}, "about": {"run": 7}}
                """)
            .entries()
            .entrySet()
            .stream()
            .map(Object::toString)
            .sorted()
            .toList(),
        sorted(specs.get(1)));
    assertEquals("6", specs.getFirst().object("defaults").text("OMP_NUM_THREADS").orElseThrow());
    assertEquals("1,2", specs.getFirst().text("visible").orElseThrow());
  }

  private static List<String> sorted(Json.Obj spec) {
    return spec.entries().entrySet().stream()
        .map(
            field ->
                field.getKey().equals("env")
                    ? "env=" + reordered(field.getValue())
                    : field.toString())
        .sorted()
        .toList();
  }

  /** The order of variables means nothing. */
  private static Json reordered(Json env) {
    var fields = new java.util.LinkedHashMap<String, Json>();
    for (String name :
        List.of(
            "A",
            "MINE",
            "PATH",
            "VIRTUAL_ENV",
            "GPUSH_SESSION",
            "GPUSH_WORKSPACE",
            "GPUSH_NODE_ADDRS")) {
      env.get(name).ifPresent(value -> fields.put(name, value));
    }
    assertEquals(env.entries().size(), fields.size());
    return new Json.Obj(fields);
  }

  @Test
  void nodesOfThisMachineMeetOnItAndShareItsProcessors() {
    Json.Obj spec =
        plan(words("train.py"), LaunchPlan.Mode.TORCHRUN, List.of(), true)
            .specs(7, 1, 0, Json.object())
            .getFirst();

    assertEquals("127.0.0.1", spec.object("master").text("addr").orElseThrow());
    assertEquals("4", spec.object("defaults").text("OMP_NUM_THREADS").orElseThrow());
  }

  @Test
  void scriptByItsPlaceHereIsTheNodesOwn() {
    Json.Obj spec =
        plan(words("/w/exp/train.py /w/data"), LaunchPlan.Mode.RANKS, List.of(), false)
            .specs(7, 1, 0, Json.object())
            .get(1);

    assertEquals(List.of("/b/ws/exp/train.py", "/w/data"), spec.texts("program"));
  }

  @Test
  void outputsAreOneFolderForEachRun() {
    assertEquals(
        List.of("/s/a/devbox-abcdef/run-7", "/s/b/devbox-abcdef/run-7"),
        outputs(List.of("/s/a", "/s/b")));
    assertEquals(
        List.of("/a/ws.gpush/outputs/run-7", "/b/ws.gpush/outputs/run-7"), outputs(List.of()));
  }

  private static List<String> outputs(List<String> folders) {
    return plan(words("t.py"), LaunchPlan.Mode.RANKS, folders, false)
        .specs(7, 1, 0, Json.object())
        .stream()
        .map(spec -> spec.text("outputs").orElse(""))
        .toList();
  }

  @Test
  void accelerateGetsItsPlaceOnEachNode() {
    Json.Obj spec =
        plan(
                words("accelerate launch --num_machines 9 --mixed_precision bf16 t.py --x"),
                LaunchPlan.Mode.COMMAND,
                List.of(),
                false)
            .specs(7, 99, 0, Json.object())
            .get(1);

    assertEquals(
        List.of(
            ("/e/bin/python -u -m accelerate.commands.launch --num_machines 2 --machine_rank 1"
                    + " --main_process_ip 10.0.0.1 --main_process_port 99 --num_processes 3"
                    + " --mixed_precision bf16 t.py --x")
                .split(" ")),
        spec.texts("argv"));
  }

  /** Its part of each node is started as its own front end would over ssh. */
  @Test
  void deepspeedGetsTheDevicesOfAllNodes() {
    LaunchPlan plan =
        plan(
            words("deepspeed --num_gpus 9 --bind_cores_to_rank --module pkg.t --x"),
            LaunchPlan.Mode.COMMAND,
            List.of(),
            false);

    List<String> argv = plan.specs(7, 99, 0, Json.object()).get(1).texts("argv");

    String info = argv.get(4).replaceFirst("--world_info=", "");
    assertEquals(
        "{\"node0\":[1,2],\"node1\":[4]}",
        new String(Base64.getUrlDecoder().decode(info), StandardCharsets.UTF_8));
    assertEquals(
        "/e/bin/python -u -m deepspeed.launcher.launch --world_info="
            + info
            + " --node_rank=1 --master_addr=10.0.0.1 --master_port=99 --bind_cores_to_rank"
            + " --module pkg.t --x",
        String.join(" ", argv));
    assertEquals(
        "run 7 · 3 ranks by deepspeed · /e python 3.11 torch 2.8 · /w/exp",
        plan.header(7, 0, "/home/me"));
  }

  @Test
  void lightningGetsItsPlaceOnEachNode() {
    Json.Obj spec =
        plan(
                words("fabric run --devices 9 --strategy ddp t.py --x"),
                LaunchPlan.Mode.COMMAND,
                List.of(),
                false,
                new RunRequest.Ranks(Optional.of(1), 0))
            .specs(7, 99, 0, Json.object())
            .get(1);

    assertEquals(
        "fabric run --devices=1 --num-nodes=2 --node-rank=1 --main-address=10.0.0.1 --main-port=99"
            + " --strategy ddp t.py --x",
        String.join(" ", spec.texts("argv")));
  }

  @Test
  void launchersThatNeedEqualNodesRefuseOthers() {
    for (String line : List.of("accelerate launch t.py", "fabric run t.py")) {
      LauncherCommand command =
          plan(words(line), LaunchPlan.Mode.COMMAND, List.of(), false).launcher().orElseThrow();
      var failed = assertThrows(GpushException.class, command::check);
      assertTrue(failed.failure().toString().contains("would have 2 and 1"), failed::toString);
    }
    plan(words("deepspeed t.py"), LaunchPlan.Mode.COMMAND, List.of(), false)
        .launcher()
        .orElseThrow()
        .check();
  }

  @Test
  void headerHasThePartsThatThereAre() {
    assertEquals(
        "run 7 · 3 ranks · /e python 3.11 torch 2.8 · /w/exp · G42",
        plan(words("t.py"), LaunchPlan.Mode.TORCHRUN, List.of(), false).header(7, 42, "/home/me"));
    assertEquals(
        "run 7 · 2 nodes · ~/exp",
        plan(words("ls"), LaunchPlan.Mode.COMMAND, List.of(), false).header(7, 0, "/w"));
  }

  @Test
  void earliestFailureOfAllNodesIsTheStatus() {
    NodeEnd ok = NodeEnd.from(Json.parse("{\"exit\": 0}"));
    NodeEnd late =
        NodeEnd.from(
            Json.parse("{\"exit\": 1, \"first\": {\"rank\": 0, \"exit\": 1, \"at_ms\": 500}}"));
    NodeEnd early =
        NodeEnd.from(
            Json.parse(
                "{\"exit\": null, \"signal\": 9, \"first\": {\"rank\": 5, \"signal\": 9, \"at_ms\":"
                    + " 400}}"));

    assertEquals(0, NodeEnd.status(List.of(ok, ok), List.of(0L, 0L)));
    assertEquals(1, NodeEnd.status(List.of(ok, late), List.of(0L, 0L)));
    assertEquals(137, NodeEnd.status(List.of(late, early), List.of(0L, 0L)));
    assertEquals(1, NodeEnd.status(List.of(late, early), List.of(0L, 200L)));
    NodeEnd asked =
        NodeEnd.from(
            Json.parse(
                "{\"signal\": 15, \"first\": {\"rank\": 5, \"signal\": 15, \"at_ms\": 1, \"asked\":"
                    + " true}}"));
    assertEquals(1, NodeEnd.status(List.of(late, asked), List.of(0L, 0L)));
    assertEquals(143, NodeEnd.status(List.of(ok, asked), List.of(0L, 0L)));
  }

  @Test
  void recordsComeBackAsTheyWere(@TempDir Path folder) throws IOException {
    var record =
        new RunRecord(
            3,
            "devbox",
            new RunRecord.Asked(
                RunKind.PROGRAM,
                List.of("train.py", "é\n\""),
                new RunRecord.Options(
                    new RunRequest.Claim(
                        Optional.of(1), Optional.empty(), Optional.of("0:1"), false),
                    Optional.of("~/e"),
                    new RunRequest.Ranks(Optional.empty(), 0, false, true),
                    List.of()),
                "exp"),
            RunView.Progress.starting(Instant.parse("2026-11-21T08:00:00Z"))
                .in(RunView.State.RUNNING),
            List.of(new RunRecord.Part(1, List.of("0"), 2, 1, 17)),
            new RunRecord.Launched(
                42,
                "torchrun",
                "/e/bin/python",
                "run 3",
                new RunRecord.Given(Map.of(), Optional.empty())));
    // Runs outlive an upgrade, so what is kept of them keeps its form.
    String form =
        """
        {"version": 1, "run": 3, "session": "devbox", "words": ["train.py", "é\\n\\""],
         "options":
           {"nodes": 1, "gpus": null, "on": "0:1", "python": "~/e", "snapshot": true},
         "folder": "exp",
         "state": "running", "exit": null, "started": "2026-11-21T08:00:00Z", "ended": null,
         "parts": [{"node": 1, "slots": ["0"], "first_rank": 2, "ranks": 1, "start_ms": 17}],
         "generation": 42, "mode": "torchrun", "python": "/e/bin/python", "header": "run 3"}\
        """;
    assertEquals(Json.parse(form).write(), record.json().write());
    var history = new RunHistory(folder.resolve("runs"));
    assertEquals(1, history.next());
    history.put(record);
    Trace trace =
        new Trace(
            Duration.ofMillis(2300),
            List.of(new Trace.Phase(Trace.Stage.RANKS, Duration.ofMillis(2100), "starting")));
    RunRecord over =
        record
            .with(trace)
            .over(
                RunView.State.FAILED,
                Optional.of(137),
                Instant.parse("2026-11-21T09:00:00Z"),
                Optional.of(
                    new RunFailure(
                        2,
                        new RunFailure.Where(1, "gpu2", true, Optional.of("0")),
                        Optional.empty(),
                        Optional.of(9),
                        Json.object("code", "memory", "scope", "cgroup"),
                        List.of(0, 3),
                        List.of(Json.object("node", 1, "host", "gpu2")))));
    history.put(over);
    Files.writeString(folder.resolve("runs/9.json"), "{\"run\": ");

    var again = new RunHistory(folder.resolve("runs"));

    assertEquals(List.of(over), again.list());
    assertEquals(Optional.of(over), again.newest());
    assertEquals(4, again.next());
    assertTrue(over.view().isOver());
    assertEquals(trace, again.list().getFirst().view().trace());
    try (var files = Files.list(folder.resolve("runs"))) {
      assertEquals(
          List.of("3.json", "9.json"),
          new ArrayList<>(files.map(file -> file.getFileName().toString()).sorted().toList()));
    }
  }
}
