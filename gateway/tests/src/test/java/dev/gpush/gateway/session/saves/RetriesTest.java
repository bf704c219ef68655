package dev.gpush.gateway.session.saves;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.WorkspaceSync;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.home.Editors;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.node.Duplex;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.scan.ScanLimits;
import dev.gpush.sync.scan.TreeScan;
import dev.gpush.sync.tree.Merge;
import dev.gpush.sync.watch.Hints;
import dev.gpush.sync.watch.TreeWatcher;
import dev.gpush.sync.watch.WatchTiming;
import dev.gpush.sync.watch.WorkspaceWatch;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** How often a conflict that only a user can settle is tried again, on a clock of the test. */
@Execution(ExecutionMode.CONCURRENT)
final class RetriesTest {
  private static final Hints NOTHING = new Hints(Set.of(), Map.of(), false, 0);

  @TempDir private Path folder;
  private final ManualClock clock = new ManualClock();
  private final Tasks tasks =
      Tasks.named("retries-test", (_, failure) -> failure.printStackTrace());
  private final ManualWatcher watcher = new ManualWatcher();
  private final Conflicting session = new Conflicting();
  private Path root;
  private LiveSync live;

  /** Reports what the test says; each question for more ends a step. */
  private static final class ManualWatcher implements TreeWatcher {
    private final CyclicBarrier asked = new CyclicBarrier(2);
    private final BlockingQueue<Hints> hints = new LinkedBlockingQueue<>();

    @Override
    public Hints await(Duration limit) throws InterruptedException {
      meet();
      return hints.take();
    }

    void meet() throws InterruptedException {
      try {
        asked.await();
      } catch (BrokenBarrierException over) {
        throw new InterruptedException("the test is over");
      }
    }

    @Override
    public void watch(Path folder) {}

    @Override
    public void forget(Path folder) {}

    @Override
    public boolean isCalm() {
      return true;
    }

    @Override
    public void dealtWith() {}

    @Override
    public void wake() {}

    @Override
    public Optional<String> lacking() {
      return Optional.empty();
    }

    @Override
    public void close() {
      asked.reset();
    }
  }

  /** Every try fails. */
  private static final class Conflicting implements SessionPort {
    private final AtomicInteger tries = new AtomicInteger();

    @Override
    public Optional<String> closed() {
      return Optional.empty();
    }

    @Override
    public Optional<Turn> tryBegin() {
      tries.incrementAndGet();
      return Optional.of(() -> {});
    }

    @Override
    public void awaitTurn(Duration limit) {}

    @Override
    public Optional<String> holdingRun() {
      throw new GpushException(new SyncFailure.Unreadable("train.py", "permission denied"));
    }

    @Override
    public boolean used() {
      return false;
    }

    @Override
    public void changed() {}

    @Override
    public boolean isLost(int node) {
      return false;
    }
  }

  /** Nothing gets as far as to it. */
  private static final class Unreached implements SyncNode {
    @Override
    public NodeInfo info() {
      return new NodeInfo(0, "node0", "", List.of("0"), "", 1, "/nowhere/project");
    }

    @Override
    public boolean isReachable() {
      return false;
    }

    @Override
    public Duplex open() throws IOException {
      throw new IOException("never");
    }
  }

  @BeforeEach
  void begin() throws Exception {
    root = Files.createDirectory(folder.resolve("project"));
    Files.writeString(root.resolve("train.py"), "x = 1\n");
    var watch = new WorkspaceWatch(root, watcher, WatchTiming.usual(), clock);
    var scan =
        new TreeScan(
            root,
            GitPlaces.of(Map.of("HOME", folder.toString(), "GIT_CONFIG_NOSYSTEM", "1")),
            ScanLimits.standard(),
            folder.resolve("hashes"),
            watch,
            clock,
            tasks);
    live =
        new LiveSync(
            "devbox",
            session,
            new WorkspaceSync(
                scan,
                new Editors(0, Merge.Editing.STAYS),
                new LocalTrash(folder.resolve("trash"), clock),
                0,
                clock,
                tasks),
            watch,
            List.of(new Unreached()),
            new NodeGenerations(1),
            new SessionPush(tasks),
            SyncView.Mode.LIVE,
            clock,
            tasks);
    live.start();
    watcher.meet();
  }

  @AfterEach
  void end() {
    live.close();
    tasks.close();
  }

  /** The next step, after this time, with what the watcher reports. */
  private void step(Duration after, Hints hints) throws InterruptedException {
    clock.advance(after);
    watcher.hints.add(hints);
    watcher.meet();
  }

  private void saved(String text) throws Exception {
    Files.writeString(root.resolve("train.py"), text);
    step(Duration.ZERO, new Hints(Set.of(root), Map.of(), false, 1));
    // The quiet moment after a save.
    step(Duration.ofSeconds(1), NOTHING);
  }

  @Test
  void theWaitDoublesAndLooksInBetweenCostTheNodesNothing() throws Exception {
    assertEquals(1, session.tries.get());
    Duration wait = Duration.ofSeconds(30);
    for (int tries = 1; tries < 15; tries++) {
      Duration almost = wait.minusSeconds(2);
      step(almost, NOTHING);
      assertEquals(tries, session.tries.get(), "after " + almost);
      assertEquals(List.of("train.py"), live.view(Duration.ZERO).pending());
      assertEquals(
          1, live.view(Duration.ZERO).held().size(), () -> live.view(Duration.ZERO).toString());

      step(Duration.ofSeconds(2), NOTHING);

      assertEquals(tries + 1, session.tries.get(), "after " + wait);
      Duration twice = wait.multipliedBy(2);
      wait = twice.compareTo(Duration.ofDays(1)) > 0 ? Duration.ofDays(1) : twice;
    }
    assertEquals(Duration.ofDays(1), wait);
  }

  @Test
  void aSaveTriesAtOnceAndTheWaitIsShortAgain() throws Exception {
    for (int i = 0; i < 6; i++) {
      step(Duration.ofDays(1), NOTHING);
    }
    assertEquals(7, session.tries.get());

    saved("x = 2\n");
    assertEquals(8, session.tries.get());

    step(Duration.ofSeconds(31), NOTHING);
    assertEquals(9, session.tries.get());
  }

  @Test
  void aLookAtEverythingThatFindsNothingNewIsNoSave() throws Exception {
    step(Duration.ofSeconds(5), new Hints(Set.of(), Map.of(), true, 1));
    step(Duration.ofSeconds(5), NOTHING);

    assertEquals(1, session.tries.get());
  }

  @Test
  void whatAUserHasSentMakesTheWaitShort() throws Exception {
    for (int i = 0; i < 6; i++) {
      step(Duration.ofDays(1), NOTHING);
    }
    live.pushed(3, 0);

    step(Duration.ZERO, NOTHING);

    assertEquals(8, session.tries.get());
    step(Duration.ofSeconds(31), NOTHING);
    assertEquals(9, session.tries.get());
  }
}
