package dev.gpush.shell.command.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.TaskFile;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.LaunchEvent;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.Sessions;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import dev.gpush.shell.command.ViewChange;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RunCommandTest {
  private final Desk desk = new Desk();

  @Test
  void makesASessionSaysSoAndKeepsItWarm() {
    desk.expect(
        """
        $ gpush run --nodes 2 train.py
        2> made devbox (2 cpu nodes on local); it stays warm for 1h idle; gpush down gives it back
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        [0] hello
        2> [1] warning
        """);

    RunRequest request = desk.runs.launched.getFirst();
    assertEquals(List.of("train.py"), request.command().words());
    assertEquals(Optional.of(2), request.claim().nodes());
  }

  @Test
  void detachedAsJsonItGivesTheNumber() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    FakeInvocation client = desk.client("gpush run --detach --json train.py");

    assertEquals(0, desk.call(client));

    Json run = Json.parse(new String(client.outBytes(), StandardCharsets.UTF_8));
    assertEquals(Optional.of(7L), run.number("run"));
    assertEquals(Optional.of("running"), run.text("state"));
  }

  @Test
  void asJsonEachLineIsOneAndTheEndIsTheLast() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush run --json train.py
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        {"type":"line","node":0,"rank":0,"stream":"out","text":"hello"}
        {"type":"line","node":1,"rank":1,"stream":"err","text":"warning"}
        {"type":"end","run":7,"state":"running","exit":null,"failure":null}
        """);
  }

  @Test
  void takesPartOfTheSessionThatIsThere() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, new GpuRequest(Optional.of("H100"), 8));

    desk.expect(
        """
        $ gpush run -q --nodes 1 --gpus 2 --on 0:4-5 --python .venv --overwrite --queue -- train.py --nodes 3 -- -q
        [0] hello
        2> [1] warning
        """);

    RunRequest request = desk.runs.launched.getFirst();
    assertEquals(List.of("train.py", "--nodes", "3", "--", "-q"), request.command().words());
    assertEquals(Optional.of(".venv"), request.command().python());
    assertEquals(
        new RunRequest.Claim(
            Optional.of(1), Optional.of(GpuRequest.parse("2")), Optional.of("0:4-5"), true),
        request.claim());
    assertTrue(request.overwrite());
  }

  @Test
  void ncclsLogIsAsked() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.expect(
        """
        $ gpush run -q --nccl-debug train.py --nccl-debug
        [0] hello
        2> [1] warning
        """);
    RunRequest request = desk.runs.launched.getFirst();
    assertEquals(RunRequest.NcclLog.FILES, request.log());
    assertEquals(List.of("train.py", "--nccl-debug"), request.command().words());
  }

  @Test
  void saysHowRanksStart() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, new GpuRequest(Optional.of("H100"), 8));

    desk.expect(
        """
        $ gpush run --nproc 4 --restarts 3 --warm --env A=x=y --env B= --env HOME --env NOT_SET train.py
        2> NOT_SET is not set here, so the ranks do not get it
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        [0] hello
        2> [1] warning
        """);

    RunRequest request = desk.runs.launched.getFirst();
    assertEquals(new RunRequest.Ranks(Optional.of(4), 3, true, false), request.ranks());
    assertEquals(Map.of("A", "x=y", "B", "", "HOME", "/home/ann"), request.command().variables());
  }

  @Test
  void theLauncherIsOneOfTheWords() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, new GpuRequest(Optional.of("H100"), 8));

    desk.expect(
        """
        $ gpush run --launcher ray job.py --lr 1
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        [0] hello
        2> [1] warning
        """);

    assertEquals(
        List.of("--launcher", "ray", "job.py", "--lr", "1"),
        desk.runs.launched.getFirst().command().words());
  }

  @Test
  void refusesVariablesThatRanksGetFromGpush() {
    desk.expect(
        """
        $ gpush run --env MASTER_PORT=1 train.py
        2> gpush: gpush run was not run
        2>   because MASTER_PORT is set by gpush for each rank, so --env cannot set it
        2>   try: gpush help run
        ? 255
        $ gpush run --env =1 train.py
        2> gpush: gpush run was not run
        2>   because --env takes NAME=VALUE or NAME, not '=1'
        2>   try: gpush help run
        ? 255
        $ gpush run --nproc 0 train.py
        2> gpush: --nproc cannot be '0'
        2>   because it must be a number from 1 to 1024
        2>   try: gpush help run
        ? 255
        """);
    assertEquals(List.of(), desk.runs.launched);
  }

  @Test
  void asksForAnotherSessionWhenThisOneLacksIt() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, new GpuRequest(Optional.of("H100"), 8));
    desk.runs.failure =
        Optional.of(
            new SessionFailure.Differs(
                "devbox", List.of(new SessionFailure.Difference("nodes", "2", "4"))));

    desk.expect(
        """
        $ gpush run --nodes 4 --backend hpc train.py
        2> gpush: devbox does not match this request
        2>   because nodes: it has 2, you asked for 4
        2>   try: gpush up -s devbox --replace --nodes 4
        ? 255
        """);
    assertEquals(
        new RunTarget(Optional.empty(), Optional.of("hpc"), List.of(), Optional.empty()),
        desk.runs.targets.getFirst());
  }

  @Test
  void repeatsTheLastRunWithoutAScript() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.failure = Optional.of(new LaunchFailure.NothingToRepeat("devbox"));

    desk.expect(
        """
        $ gpush run
        2> gpush: there is no run to repeat
        2>   because devbox has had none
        2>   try: gpush run train.py
        ? 255
        """);
    assertEquals(List.of(), desk.runs.launched.getFirst().command().words());
  }

  @Test
  void passesTheStatusOfTheRunThrough() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.exit = Optional.of(17);

    desk.expect(
        """
        $ gpush run -q -m pkg.train --lr 1
        [0] hello
        2> [1] warning
        ? 17
        """);
    assertEquals(
        List.of("-m", "pkg.train", "--lr", "1"), desk.runs.launched.getFirst().command().words());
  }

  @Test
  void aLostRunIs255() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.exit = Optional.empty();

    desk.expect(
        """
        $ gpush run -q train.py
        [0] hello
        2> [1] warning
        2> gpush: run 7 was lost on node 0
        2>   because its part there ended without a result
        2>   try: gpush logs 7
        ? 255
        """);
  }

  @Test
  void oneThatIsGoneIsMadeAgain() {
    desk.runs.events =
        List.of(
            new LaunchEvent.SessionGone("old", "its lease ended"),
            new LaunchEvent.SessionMade(
                new ViewChange(desk.sessions.add("devbox", Desk.PROJECT, 1, GpuRequest.none()))
                    .idle(Duration.ofHours(1))
                    .view()));

    desk.expect(
        """
        $ gpush run train.py
        2> old is gone: its lease ended
        2> made devbox (1 cpu node on local); it stays warm for 1h idle; gpush down gives it back
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        [0] hello
        2> [1] warning
        """);
  }

  @Test
  void aSessionThatWasMadeInVainIsGivenBackFirst() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    var name = new SessionName("devbox");
    var end = new Sessions.GivenBack(List.of(), List.of("node 0: /w/0/proj/result.bin"));
    desk.runs.events = List.of(new LaunchEvent.SessionGivenBack(name, end));
    desk.runs.failure = Optional.of(new LaunchFailure.NoSuchScript("x.py", "~/proj", List.of()));

    desk.expect(
        """
        $ gpush run x.py
        2> devbox is given back
        2> kept, because gpush did not make it: node 0: /w/0/proj/result.bin
        2> gpush: there is no script 'x.py'
        2>   because ~/proj has no such file
        2>   try: ls '~/proj'
        ? 255
        """);
  }

  @Test
  void aSessionThatCannotBeGivenBackIsNamedBeforeTheFailure() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    var question = new UsageFailure.NobodyToAsk("discard?", "--discard");
    desk.runs.events = List.of(new LaunchEvent.SessionKept(new SessionName("devbox"), question));
    desk.runs.failure = Optional.of(new LaunchFailure.NoSuchScript("x.py", "~/proj", List.of()));

    desk.expect(
        """
        $ gpush run x.py
        2> gpush: this needs your answer, and there is no terminal to ask on
        2>   because the question is: discard?
        2>   try: gpush down --discard -s devbox
        2> gpush: there is no script 'x.py'
        2>   because ~/proj has no such file
        2>   try: ls '~/proj'
        ? 255
        """);
  }

  @Test
  void whatIsClaimedIsNamedWithTwoWaysOut() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.failure =
        Optional.of(new LaunchFailure.NoFreeSlots("all slots", List.of("run 3", "run 5")));

    desk.expect(
        """
        $ gpush run train.py
        2> gpush: not enough is free for this run, which asks for all slots
        2>   because claimed by run 3 and run 5; gpush stop 3 frees it, --queue waits for it
        2>   try: gpush run --queue train.py
        ? 255
        """);
  }

  @Test
  void whatIsSuggestedIsAboutTheSessionThatWasNamed() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.add("big", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.failure = Optional.of(new LaunchFailure.NoFreeSlots("all slots", List.of("run 3")));

    desk.expect(
        """
        $ gpush run -s big train.py
        2> gpush: not enough is free for this run, which asks for all slots
        2>   because claimed by run 3; gpush stop -s big 3 frees it, --queue waits for it
        2>   try: gpush run --queue -s big train.py
        ? 255
        """);
  }

  @Test
  void theFirstLineAfterAFailedRunSaysWhoWhereAndWhy() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.exit = Optional.of(1);
    desk.runs.verdict = Optional.of(VERDICT);

    desk.expect(
        """
        $ gpush run -q train.py
        [0] hello
        2> [1] warning
        2> gpush: rank 1 (gpu2) failed first: KeyError: 'lr' (train.py:9); rank 0 the same
        ? 1
        $ gpush logs 7
        2> gpush: rank 1 (gpu2) failed first: KeyError: 'lr' (train.py:9); rank 0 the same
        [0] hello
        2> [1] warning
        ? 1
        """);
  }

  @Test
  void aLostRunNamesTheNodeBeforeAllElse() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.exit = Optional.empty();
    desk.runs.verdict =
        Optional.of(
            new RunFailure(
                -1,
                VERDICT.where(),
                Optional.empty(),
                Optional.empty(),
                Json.object("code", "node-lost", "what", "node"),
                List.of(),
                List.of()));

    desk.expect(
        """
        $ gpush run -q train.py
        [0] hello
        2> [1] warning
        2> gpush: node 1 (gpu2) was lost, and the run with it
        2> gpush: run 7 was lost on node 0
        2>   because its part there ended without a result
        2>   try: gpush logs 7
        ? 255
        """);
  }

  private static final RunFailure VERDICT =
      new RunFailure(
          1,
          new RunFailure.Where(1, "gpu2", true, Optional.empty()),
          Optional.of(1),
          Optional.empty(),
          (Json.Obj)
              Json.parse(
                  "{\"code\": \"exception\", \"type\": \"KeyError\", \"message\": \"'lr'\","
                      + " \"frame\": {\"file\": \"train.py\", \"line\": 9}}"),
          List.of(0),
          List.of());

  @Test
  void whatAllNodesTellIsSaidOnce() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.output =
        output -> {
          output.event(0, "rank 1 failed: the others have 30s to end");
          output.event(0, "stopping");
          output.event(1, "stopping");
        };

    desk.expect(
        """
        $ gpush run -q train.py
        2> gpush: rank 1 failed: the others have 30s to end
        2> gpush: stopping
        """);
  }

  @Test
  void missingScriptIsGuessed() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.failure =
        Optional.of(new LaunchFailure.NoSuchScript("trian.py", "~/proj", List.of("train.py")));

    desk.expect(
        """
        $ gpush run --nodes 1 trian.py --lr 1
        2> gpush: there is no script 'trian.py'; did you mean train.py?
        2>   because ~/proj has no such file
        2>   try: gpush run --nodes 1 train.py --lr 1
        ? 255
        """);
  }

  @Test
  void anEarlierGenerationIsOneOfItsSession() {
    desk.expect(
        """
        $ gpush run --at G41 train.py
        2> gpush: there is no session
        2>   because no folder has one yet
        2>   try: gpush up
        ? 255
        """);
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(7, "done", Optional.of(0), "train.py");

    assertEquals(0, desk.call(desk.client("gpush run --at G41 --detach")));
    desk.expect(
        """
        $ gpush run --at 41.0
        2> gpush: --at cannot be '41.0'
        2>   because it must be a generation, such as G41
        2>   try: gpush help run
        ? 255
        $ gpush run --at G41 --watch train.py
        2> gpush: gpush run was not run
        2>   because --watch runs what is saved, and --at what was saved before
        2>   try: gpush help run
        ? 255
        """);

    RunRequest request = desk.runs.launched.getLast();
    assertEquals(Optional.of(41L), request.command().at());
    assertEquals(List.of(), request.command().words());
  }

  @Test
  void detachSaysHowToFollow() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush run --detach train.py
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        2> follow: gpush logs -f 7 · end: gpush stop 7
        $ gpush run --detach --down train.py
        2> gpush: gpush run was not run
        2>   because --down waits for the end of the run, and --detach does not
        2>   try: gpush help run
        ? 255
        $ gpush run job.sbatch
        2> gpush: SCRIPT cannot be 'job.sbatch'
        2>   because it must be a file with #SBATCH lines; -s names a session
        2>   try: gpush help run
        ? 255
        """);
  }

  @Test
  void aTaskOfSkyPilotBecomesARun() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, new GpuRequest(Optional.of("H100"), 8));
    desk.task =
        Optional.of(
            new TaskFile(
                Optional.of(2),
                Optional.of(GpuRequest.parse("H100:8")),
                List.of("bash", "-c", "text"),
                Map.of("LR", "1", "DATA", "a"),
                Map.of(
                    "HF_TOKEN",
                    new UsageFailure.BadLine(
                        10, "HF_TOKEN has no value; give it with --env HF_TOKEN")),
                List.of("resources.infra (sessions come from gpush's backends)")));

    desk.expect(
        """
        $ gpush run t.sky.yaml
        2> not used: resources.infra (sessions come from gpush's backends)
        2> gpush: t.sky.yaml cannot be run here
        2>   because t.sky.yaml:10: HF_TOKEN has no value; give it with --env HF_TOKEN
        2>   try: cat -n t.sky.yaml
        ? 255
        $ gpush run t.sky.yaml x
        2> gpush: gpush run was not run
        2>   because t.sky.yaml takes no arguments; --env gives its variables a value
        2>   try: gpush help run
        ? 255
        $ gpush run -q --env HF_TOKEN=secret --env LR=2 t.sky.yaml
        [0] hello
        2> [1] warning
        """);

    assertEquals(1, desk.runs.launched.size());
    RunRequest request = desk.runs.launched.getFirst();
    assertEquals(List.of("bash", "-c", "text"), request.command().words());
    assertEquals(
        Map.of("LR", "2", "DATA", "a", "HF_TOKEN", "secret"), request.command().variables());
    assertEquals(Optional.of(2), request.claim().nodes());
  }

  @Test
  void anotherFolderGetsItsOwnSession() {
    desk.sessions.add("devbox", Path.of("/data/exp"), 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush -s mine run -q train.py
        [0] hello
        2> [1] warning
        """);
    assertEquals(Optional.of(new SessionName("mine")), desk.runs.targets.getFirst().session());
  }

  @Test
  void controlCInterruptsThenKills() throws Exception {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    desk.runs.exit = Optional.of(137);
    var running = new Running("gpush run train.py");
    running.untilFollowed();

    running.client.signal("INT");
    assertEquals("7 INT 10s", desk.runs.stops.take());
    running.client.signal("WINCH");
    running.client.signal("INT");
    assertEquals("7 KILL 0s", desk.runs.stops.take());

    assertEquals(137, running.status());
    assertTrue(
        running.client.errText().contains("stopping run 7; press Ctrl-C again to kill it\n"));
    assertTrue(running.client.errText().contains("killing run 7\n"));
  }

  /** TERM: a machine that shuts down. */
  @ParameterizedTest
  @ValueSource(strings = {"HUP", "TERM"})
  void aClosedTerminalLeavesTheRunAlone(String signal) throws Exception {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    var running = new Running("gpush run train.py");
    running.untilFollowed();

    running.client.signal(signal);

    assertEquals(130, running.status());
    assertTrue(desk.runs.stops.isEmpty());
  }

  @Test
  void controlCOnLogsLeavesTheRunAlone() throws Exception {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "running", Optional.empty(), "train.py");
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    var running = new Running("gpush logs -f");
    running.untilFollowed();

    running.client.signal("INT");

    assertEquals(130, running.status());
    assertTrue(desk.runs.stops.isEmpty());
  }

  @Test
  void largeOutputComesWholeAndInOrder() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    int lines = 200_000;
    byte[] text = "0123456789012345678901234567890123456789".getBytes(StandardCharsets.UTF_8);
    desk.runs.output =
        output -> {
          for (int i = 0; i < lines; i++) {
            output.line(i % 2, i % 2, false, text);
          }
        };
    FakeInvocation client = desk.client("gpush run -q train.py");

    assertEquals(0, desk.call(client));

    byte[] out = client.outBytes();
    assertEquals(lines * 45L, out.length);
    assertEquals(
        "[0] " + new String(text, StandardCharsets.UTF_8) + "\n[1] 0",
        new String(out, 0, 50, StandardCharsets.UTF_8));
    assertEquals(
        "[1] " + new String(text, StandardCharsets.UTF_8) + "\n",
        new String(out, out.length - 45, 45, StandardCharsets.UTF_8));
  }

  @Test
  void bytesAreNotTouched() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    byte[] text = {0, (byte) 0xff, 0x1b, '[', '3', '1', 'm', '\r', 7, (byte) 0xc3};
    desk.runs.output = output -> output.line(0, 0, false, text);
    FakeInvocation client = desk.client("gpush run -q train.py");

    assertEquals(0, desk.call(client));

    byte[] out = client.outBytes();
    assertEquals(15, out.length);
    for (int i = 0; i < text.length; i++) {
      assertEquals(text[i], out[4 + i]);
    }
  }

  @Test
  void aReaderThatLeavesEndsTheFollowing() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.output =
        output -> {
          for (int i = 0; i < 1_000_000; i++) {
            output.line(0, 0, false, new byte[1000]);
          }
          throw new AssertionError("nobody told the writer");
        };
    FakeInvocation client = desk.client("gpush run -q train.py").breakingAfter(10_000);

    assertEquals(255, desk.call(client));
    assertEquals(List.of(), desk.bugs);
  }

  /** A command on a thread of its own. */
  private final class Running {
    private final CompletableFuture<FakeInvocation> made = new CompletableFuture<>();
    private final CompletableFuture<Integer> status = new CompletableFuture<>();
    private final FakeInvocation client;

    Running(String line) throws Exception {
      Thread.ofVirtual()
          .start(
              () -> {
                FakeInvocation mine = desk.client(line);
                made.complete(mine);
                try {
                  status.complete(desk.call(mine));
                } catch (Throwable failed) {
                  status.completeExceptionally(failed);
                }
              });
      client = made.get();
    }

    void untilFollowed() throws InterruptedException {
      desk.runs.followed.await();
    }

    int status() throws Exception {
      return status.get();
    }
  }
}
