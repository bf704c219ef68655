package dev.gpush.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.tree.Generation;
import dev.gpush.testkit.fake.ManualClock;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node that is connected and does not answer: saves go on without it, commands name it. */
final class SlowNodeTest extends SyncFixture {
  private static final Duration LITTLE = Duration.ofMillis(100);
  private static final int MEGABYTE = 1 << 20;

  private final Tasks work =
      Tasks.named("slow-node", (thread, failure) -> failure.printStackTrace());
  private final ManualClock manual = new ManualClock();
  private FakeNode slow;

  SlowNodeTest() {
    clock = manual;
  }

  @BeforeEach
  void threeNodes() throws Exception {
    nodes(3);
    slow = nodes.get(1);
    laptop.write("train.py", "1");
    push();
  }

  @AfterEach
  void close() {
    nodes.forEach(FakeNode::thaw);
    work.close();
  }

  private List<SyncNode> others() {
    return List.of(nodes.get(0), nodes.get(2));
  }

  private Task<WorkspaceSync.Pushed, NodeFailed> save(List<SyncNode> to)
      throws InterruptedException {
    sync.rescan(Optional.empty(), Set.of());
    return work.fork("save", () -> sync.pushLooked(to, false));
  }

  private Task<Boolean, NodeFailed> catchUp() {
    return work.fork(
        "catch-up",
        () -> {
          sync.catchUp(slow);
          return true;
        });
  }

  /**
   * Time goes by, but only while nothing is awaited but the slow node, which is measured already.
   */
  private void letPassUntil(BooleanSupplier isTrue) {
    while (!isTrue.getAsBoolean()) {
      if (sync.slow.awaited().equals(List.of(1)) && slow.writers.get() > 0) {
        manual.advance(LITTLE);
      }
      LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
    }
  }

  private NodeFailed giveUpOn(Task<?, NodeFailed> save) {
    letPassUntil(save::isDone);
    return assertThrows(NodeFailed.class, save::get);
  }

  private void writeMegabyte() throws Exception {
    var random = new byte[MEGABYTE];
    new Random(1).nextBytes(random);
    Files.write(laptop.path().resolve("model.bin"), random);
  }

  @Test
  void theOthersGetTheSaveAndTheSlowOneWhenItAnswers() throws Exception {
    slow.freeze();
    writeMegabyte();

    NodeFailed failed = giveUpOn(save(all()));

    assertEquals(1, failed.node());
    assertTrue(failed.isSlow());
    assertEquals("has not answered for 5s", failed.why());
    assertEquals(List.of("model.bin"), save(others()).get().paths());
    int opened = slow.opened.get();
    Task<Boolean, NodeFailed> caughtUp = catchUp();
    until(() -> slow.opened.get() > opened);
    laptop.write("train.py", "2");
    assertEquals(List.of("train.py"), save(others()).get().paths());
    assertFalse(caughtUp.isDone());

    slow.thaw();

    assertTrue(caughtUp.get());
    // The content went ahead: the push of all waits for no megabyte.
    long sent = slow.toNode.get();
    Generation all = save(all()).get().generation();
    assertTrue(slow.toNode.get() - sent < MEGABYTE / 2, () -> slow.toNode.get() - sent + " bytes");
    assertAllHold(all);
  }

  @Test
  void aPreviewGivesUpSoThatSavesGoOn() throws Exception {
    slow.freeze();
    laptop.write("train.py", "2");
    Task<?, RuntimeException> preview =
        work.fork("preview", () -> sync.preview(all(), PushOptions.standard(), talk));

    letPassUntil(preview::isDone);

    assertThrows(GpushException.class, preview::get);
    assertEquals(List.of("train.py"), save(others()).get().paths());
  }

  private static void until(BooleanSupplier isTrue) {
    while (!isTrue.getAsBoolean()) {
      LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
    }
  }

  @Test
  void aNodeThatAnswersTooLateTwiceGetsTwiceAsLong() throws Exception {
    slow.freeze();
    laptop.write("train.py", "2");
    giveUpOn(save(all()));

    assertEquals("has not answered for 10s", giveUpOn(save(all())).why());

    slow.thaw();
    save(all()).get();
    slow.freeze();
    laptop.write("train.py", "3");
    assertEquals("has not answered for 5s", giveUpOn(save(all())).why());
  }

  @Test
  void anOnlyNodeIsGivenUpAsWell() throws Exception {
    slow.freeze();
    laptop.write("train.py", "2");

    assertEquals("has not answered for 5s", giveUpOn(save(List.of(slow))).why());
  }

  @Test
  void aCommandNamesTheNodeForWhichItWaitsAndBringsAllToOneGeneration() throws Exception {
    slow.freeze();
    laptop.write("train.py", "2");
    talk.onceAt("waiting for node 1, which has not answered for 5s", slow::thaw);

    Task<Generation, RuntimeException> command = work.fork("command", this::push);
    letPassUntil(command::isDone);

    assertAllHold(command.get());
  }

  @Test
  void aCommandThatWaitsForANodeCanBeStopped() throws Exception {
    Generation before = push();
    slow.freeze();
    laptop.write("train.py", "2");
    Task<Generation, RuntimeException> command = work.fork("command", this::push);
    until(() -> sync.slow.awaited().equals(List.of(1)));

    command.cancel();

    assertThrows(InterruptedException.class, command::get);
    slow.thaw();
    assertAllHold(before);
  }

  @Test
  void aCommandTakesOverANodeThatCatchesUp() throws Exception {
    slow.freeze();
    laptop.write("train.py", "2");
    giveUpOn(save(all()));
    int opened = slow.opened.get();
    Task<Boolean, NodeFailed> caughtUp = catchUp();
    until(() -> slow.opened.get() > opened);

    Task<Generation, RuntimeException> command = work.fork("command", this::push);

    assertTrue(caughtUp.get());
    slow.thaw();
    assertAllHold(command.get());
  }
}
