package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs.Preview;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.plan.LaunchInput;
import dev.gpush.launch.plan.RunEnding;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs that wait for slots, on nodes that do what the test says. */
final class QueuedRunsTest {
  private static final String OK =
      "{\"exit\": 0, \"signal\": null, \"first\": null, \"stopped\": false}";

  private static final String SENT =
      "the nodes have other files by now: this run gets those of G42";

  @TempDir private Path folder;
  private final List<FakeNode> nodes = List.of(new FakeNode(), new FakeNode());
  private final FakeTalk talk = new FakeTalk();
  private final FakeTurn turn = new FakeTurn();
  private Tasks tasks;
  private Launcher launcher;

  @BeforeEach
  void open() throws IOException {
    tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
    LaunchSite site = FakeNode.site(nodes, folder, Optional.empty());
    launcher = new Launcher(site, new FabricPlanner(List::of), Clock.system(), tasks);
    Files.writeString(folder.resolve("train.py"), "print(1)\n");
  }

  @AfterEach
  void close() {
    launcher.close();
    tasks.close();
  }

  private RunRequest on(String slots) {
    return Asked.on(slots, Asked.run(folder, "train.py"));
  }

  private static LaunchInput input() {
    return new LaunchInput(
        42, Optional.empty(), Map.of(), Map.of(), _ -> Optional.empty(), RunEnding.usual());
  }

  @Test
  void aPreviewStartsNothingAndSaysForWhichRunItWouldWait() throws Exception {
    nodes.forEach(
        node ->
            node.python(
                "gpush-python {\"executable\": \"/e/bin/python\", \"version\": \"3.11.2\","
                    + " \"torch\": \"2.8.0\"}"));
    launcher.launch(on("0"), input(), new FakeTurn(), talk);
    var full = assertThrows(GpushException.class, () -> launcher.preview(on("0:1"), input(), talk));
    assertEquals(new LaunchFailure.NoFreeSlots("--on 0:1", List.of("run 1")), full.failure());

    Preview.Launch later = launcher.preview(Asked.queued(on("0:1")), input(), talk);
    Preview.Launch now = launcher.preview(on("1:0"), input(), talk);

    assertEquals(List.of("run 1"), later.waits());
    assertEquals(List.of("1"), later.starts().getFirst().slots());
    assertEquals(List.of(), now.waits());
    assertEquals(
        "torchrun --nnodes 1 --node-rank 0 --nproc-per-node 1 --master-addr 127.0.0.1"
            + " --master-port PORT train.py",
        now.starts().getFirst().command());
    assertTrue(now.header().startsWith("run 2 · 1 rank · "), now.header());
    RunRequest deepspeed = Asked.run(folder, "deepspeed", "train.py");
    assertTrue(
        launcher
            .preview(Asked.on("1", deepspeed), input(), talk)
            .starts()
            .getFirst()
            .command()
            .contains(" --master_port=PORT "));
    assertEquals(1, launcher.list().size());
    assertEquals(List.of(), nodes.get(1).specs());
  }

  /** Beside run 1, which has its slots; its files are those of G42. */
  private Task<RunView, RuntimeException> waits() throws InterruptedException {
    launcher.launch(on("0"), input(), new FakeTurn(), talk);
    var full =
        assertThrows(
            GpushException.class, () -> launcher.launch(on("0:1"), input(), new FakeTurn(), talk));
    assertEquals(new LaunchFailure.NoFreeSlots("--on 0:1", List.of("run 1")), full.failure());
    Task<RunView, RuntimeException> second =
        tasks.fork("second", () -> launcher.launch(Asked.queued(on("0:1")), input(), turn, talk));
    turn.awaitReleased();
    return second;
  }

  @Test
  void startsWhenTheSlotsAreFree() throws Exception {
    Task<RunView, RuntimeException> second = waits();
    RunView beside = launcher.launch(on("1"), input(), new FakeTurn(), talk);
    nodes.get(0).end(1, OK);

    assertEquals(2, beside.number());
    assertEquals(3, second.get().number());
    assertFalse(second.get().launched().fromSnapshot());
    assertTrue(talk.said().contains("waiting for run 1"));
    assertEquals(List.of("release", "acquire", "release"), turn.calls());
  }

  @Test
  void waitsForNodesThatCannotAnswerNow() throws Exception {
    Task<RunView, RuntimeException> second = waits();
    nodes.get(0).fail("run.list", new AgentFailure.Refused("run.list", "timeout", Json.object()));
    nodes
        .get(1)
        .fail("run.list", new AgentFailure.LinkOver(1, "its agent was replaced by another one"));
    nodes.get(0).end(1, OK);

    assertEquals(2, second.get().number());
  }

  @Test
  void slotsOfARunThatMayStartAgainAreNotFreeBetweenItsAttempts() throws Exception {
    String failed = "{\"exit\": 1, \"signal\": null, \"first\": null, \"stopped\": false}";
    var once = new RunRequest.Ranks(Optional.empty(), 1);
    launcher.launch(Asked.with(once, on("0-1")), input(), new FakeTurn(), talk);
    nodes.get(0).end(1, failed);
    var full =
        assertThrows(
            GpushException.class, () -> launcher.launch(on("0"), input(), new FakeTurn(), talk));
    assertEquals(new LaunchFailure.NoFreeSlots("--on 0", List.of("run 1")), full.failure());

    nodes.get(1).end(1, failed);
    nodes.get(1).awaitCall("start 1 again");
    nodes.get(0).awaitCall("start 1 again");
    launcher.stop(1, "KILL", Duration.ZERO, talk);
    assertEquals(2, launcher.launch(on("0"), input(), new FakeTurn(), talk).number());
  }

  @Test
  void startsOnItsFilesWhereOthersWereSentMeanwhile() throws Exception {
    Task<RunView, RuntimeException> second = waits();
    assertEquals(List.of(42L, 42L), nodes.get(0).kept(), "by run 1, and before it waits");
    nodes.get(0).push(43);
    nodes.get(0).end(1, OK);

    RunView run = second.get();

    assertEquals(42, run.generation());
    assertTrue(run.launched().fromSnapshot());
    assertTrue(nodes.get(0).calls().contains("snapshot 2 of G42"));
    assertTrue(talk.said().contains(SENT));
  }

  /** What is saved on node 0 goes to the others with the next push, which waits for the run. */
  @Test
  void startsOnItsFilesWhereOneWasEditedOnANodeMeanwhile() throws Exception {
    Task<RunView, RuntimeException> second = waits();
    nodes.get(0).edit("model.py");
    nodes.get(0).end(1, OK);

    assertTrue(second.get().launched().fromSnapshot());
    assertTrue(talk.said().contains(SENT));
  }

  @Test
  void filesOfNodesThatItDoesNotUseAreNotAskedFor() throws Exception {
    Task<RunView, RuntimeException> second = waits();
    nodes.get(1).push(43);
    nodes.get(1).refuseToKeep("limit");
    nodes.get(0).end(1, OK);

    assertFalse(second.get().launched().fromSnapshot());
    assertFalse(talk.said().contains(SENT));
  }

  @Test
  void nodeThatCannotTellIsTheFailure() throws Exception {
    Task<RunView, RuntimeException> second = waits();
    nodes.get(0).refuseToKeep("limit");
    nodes.get(0).end(1, OK);

    var failed = assertThrows(GpushException.class, second::get);
    assertEquals("limit", assertInstanceOf(LaunchFailure.Refused.class, failed.failure()).code());
    assertFalse(talk.said().contains(SENT));
    assertEquals(List.of("release", "acquire", "release"), turn.calls());
  }

  @Test
  void saysNothingWhereAnotherRunHasTakenTheSlotsMeanwhile() throws Exception {
    turn.before(() -> launcher.launch(on("0:1"), input(), new FakeTurn(), new FakeTalk()));
    Task<RunView, RuntimeException> second = waits();
    nodes.get(0).push(43);
    nodes.get(0).end(1, OK);
    turn.awaitReleased();
    assertFalse(talk.said().contains(SENT));
    nodes.get(0).end(2, OK);

    assertEquals(3, second.get().number());
    assertTrue(talk.said().contains(SENT));
    assertEquals(List.of("release", "acquire", "release", "acquire", "release"), turn.calls());
  }
}
